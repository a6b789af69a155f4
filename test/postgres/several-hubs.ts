import { afterEach, expect } from "vitest"
import { HubProcess, type Json } from "../hub/hub-process.ts"
import { Machine } from "../runner/runner-process.ts"
import { ASKING_TURNS } from "../runner/turns.ts"
import { testServer } from "./server.ts"

let machine: Machine | undefined
const others: HubProcess[] = []

afterEach(async () => {
  for (const hub of others.splice(0)) {
    hub.signal("SIGCONT")
    await hub.dispose()
  }
  machine?.hub.signal("SIGCONT")
  await machine?.dispose()
  machine = undefined
})

/** A database of its own, as the option that a hub takes. */
export async function sharing(): Promise<readonly string[]> {
  return ["--store", await (await testServer()).createDatabase(), "--cluster-url", "http://127.0.0.1:{port}"]
}

/** Ended with the test. */
export async function startBeside(hubFlags: readonly string[]): Promise<HubProcess> {
  const hub = await HubProcess.start(hubFlags)
  others.push(hub)
  return hub
}

/** Ended with the test. */
export async function openMachine(options: Parameters<typeof Machine.open>[0]): Promise<Machine> {
  machine = await Machine.open(options)
  return machine
}

/** A runner with its agents at one hub, and another hub beside it on the same database. */
export async function openTwo(
  scenario = ASKING_TURNS,
): Promise<{ readonly at: Machine; readonly beside: HubProcess; readonly hubFlags: readonly string[] }> {
  const hubFlags = await sharing()
  const at = await openMachine({ scenario, hubFlags })
  const beside = await startBeside(hubFlags)
  await expect.poll(async () => (await idsOf(at.hub)).length, { timeout: 30_000 }).toBe(2)
  await expect
    .poll(async () => (await beside.get("/api/runners")).runners.map((runner: Json) => runner.connected), {
      timeout: 30_000,
    })
    .toEqual([true])
  return { at, beside, hubFlags }
}

async function idsOf(hub: HubProcess): Promise<readonly string[]> {
  return (await hub.get("/api/hubs")).hubs.map(({ id }: Json) => id)
}

export async function selfOf(hub: HubProcess): Promise<string> {
  return (await hub.get("/api/hubs")).hubs.find(({ self }: Json) => self).id
}

export async function isIn(hub: HubProcess, id: string, state: string): Promise<void> {
  const look = async () => (await hub.get(`/api/sessions/${id}`)).state
  await expect.poll(look, { timeout: 60_000, interval: 50, message: hub.log }).toBe(state)
}
