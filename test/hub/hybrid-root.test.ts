import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, expect, it } from "vitest"
import { runsNow } from "../gate.ts"
import { type AgentProcess, startAgent } from "./agent-process.ts"
import { HubProcess, type Json } from "./hub-process.ts"

const POLL = { timeout: 60_000, interval: 50 }

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.dispose()
})

function scenarioOf(name: string): Scenario {
  const input = { command: `touch ${name}`, description: "make a file" }
  return { turns: [{ steps: [{ say: `This is ${name}.` }, { tool: "Bash", input }, { say: `${name} is done.` }] }] }
}

interface Started {
  readonly name: string
  readonly id: string
  readonly agent: AgentProcess
}

/** What the agent said itself, without what it repeats of the user's. */
async function spoken(hub: HubProcess, id: string): Promise<Json[]> {
  const { events } = await hub.get(`/api/sessions/${id}/events?limit=1000`)
  expect(events.map(({ seq }: Json) => seq)).toEqual(events.map((_: Json, index: number) => index + 1))
  const messages = events.filter(({ from }: Json) => from === "agent").map(({ message }: Json) => message)
  return messages.filter(({ type }: Json) => type !== "user")
}

async function settledTurn(hub: HubProcess, { name, id, agent }: Started): Promise<void> {
  await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).turns, POLL).toBe(1)
  expect(existsSync(join(agent.cwd, name))).toBe(true)
  const said = () => spoken(hub, id)
  await expect.poll(async () => (await said()).length, POLL).toBe(6)
  expect(await hub.get(`/api/sessions/${id}`)).toMatchObject({ transport: "hybrid", lastLine: `${name} is done.` })
  const types = (await said()).map(({ type }: Json) => type)
  expect(types.slice(0, 4)).toEqual(["system", "assistant", "assistant", "control_request"])
  // Each is a POST of its own. One that met the connection to the hub that was killed is tried again, perhaps after the next.
  expect(new Set(types.slice(4))).toEqual(new Set(["assistant", "result"]))
  expect(new Set((await said()).flatMap(({ session_id: own = [] }: Json) => own)).size).toBe(1)
}

for (const version of ["2.1.37", "2.1.120"]) {
  for (const slash of ["", "/"]) {
    const title = "two agents at the root that post their events are heard, each in its session"
    if (!runsNow(`hub with claude ${version} hybrid at ws://host:port${slash}`, title)) continue
    it(`[HS51] ${title}, also when the hub is killed meanwhile (${version}, ws://host:port${slash})`, async () => {
      const hub = await HubProcess.start()
      open.push(hub)
      const url = `${hub.ready.url.replace("http", "ws")}${slash}`
      const started = await Promise.all(
        ["one", "two"].map(async (name): Promise<Started> => {
          const { id, ingress } = await hub.post("/api/sessions", { agent: "external", prompt: `be ${name}` })
          const scenario = scenarioOf(name)
          const agent = await startAgent({ kind: "claude", version, url, token: ingress.token, scenario, hybrid: true })
          open.push(agent)
          return { name, id, agent }
        }),
      )
      const asks = async (): Promise<Json[]> => (await hub.get("/api/asks?state=pending")).asks
      await expect.poll(async () => (await asks()).length, POLL).toBe(2)
      await hub.kill()
      await hub.startAgain()
      const states = async () =>
        Promise.all(started.map(async ({ id }) => (await hub.get(`/api/sessions/${id}`)).state))
      await expect.poll(states, POLL).toEqual(["waiting", "waiting"])
      for (const ask of await asks()) await hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
      for (const each of started) await settledTurn(hub, each)
    }, 240_000)
  }
}
