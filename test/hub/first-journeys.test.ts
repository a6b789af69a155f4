import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, expect, it } from "vitest"
import { runsNow } from "../gate.ts"
import { type AgentProcess, startAgent } from "./agent-process.ts"
import { HubProcess, type Json } from "./hub-process.ts"

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

interface Cell {
  readonly kind: "simulator" | "claude"
  readonly version: string
  readonly hybrid?: boolean
}

const CELLS: readonly Cell[] = [
  { kind: "simulator", version: "2.1.120" },
  { kind: "simulator", version: "2.1.37" },
  { kind: "claude", version: "2.1.120" },
  { kind: "claude", version: "2.1.37" },
  { kind: "claude", version: "2.1.37", hybrid: true },
]

async function begin(
  cell: Cell,
  scenario: Scenario,
  body: Json = {},
): Promise<{ hub: HubProcess; id: string; agent: AgentProcess }> {
  const hub = await HubProcess.start()
  open.push(hub)
  const session = await hub.post("/api/sessions", { agent: "external", ...body })
  const agent = await startAgent({ ...cell, ...session.ingress, scenario })
  open.push(agent)
  return { hub, id: session.id, agent }
}

function until(hub: HubProcess, id: string, state: string) {
  return expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).state, POLL).toBe(state)
}

async function pendingAsk(hub: HubProcess): Promise<Json> {
  await expect.poll(async () => (await hub.get("/api/asks?state=pending")).asks.length, POLL).toBe(1)
  return (await hub.get("/api/asks?state=pending")).asks[0]
}

const POLL = { timeout: 30_000, interval: 50 }
const TOUCH: Scenario = {
  turns: [
    { steps: [{ tool: "Bash", input: { command: "touch made", description: "make a file" } }, { say: "Made it." }] },
    { steps: [{ say: "Again." }] },
  ],
}

for (const cell of CELLS) {
  /** The simulator only says that it ran the tool. */
  const hasMade = (agent: AgentProcess) => cell.kind === "simulator" || existsSync(join(agent.cwd, "made"))
  const name = `${cell.kind} ${cell.version}${cell.hybrid === true ? " hybrid" : ""}`
  const test = (title: string, run: () => Promise<void>) => {
    // Several waits of 30 s each, for a real CLI that comes back when it likes.
    if (cell.kind === "simulator" || runsNow(`hub with ${name}`, title)) it(`${title} (${name})`, run, 180_000)
  }

  test("a message waits for the agent, its turn is in the log in order, with cost and tokens", async () => {
    const { hub, id } = await begin(cell, { turns: [{ steps: [{ say: "Hello." }] }] }, { prompt: "hi" })
    await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).turns, POLL).toBe(1)
    const session = await hub.get(`/api/sessions/${id}`)
    expect(session).toMatchObject({ state: "idle", title: "hi", cliVersion: cell.version, lastLine: "Hello." })
    expect(session.transport).toBe(cell.hybrid === true ? "hybrid" : "websocket")
    expect(session.tokens.output).toBeGreaterThan(0)
    const { events } = await hub.get(`/api/sessions/${id}/events`)
    expect(events.map((event: Json) => event.seq)).toEqual(events.map((_: Json, index: number) => index + 1))
    const seen = events
      .filter((event: Json) => event.from !== "hub")
      .map((event: Json) => `${event.from} ${event.message.type}`)
    expect(seen).toEqual(["client user", "agent system", "agent assistant", "agent result"])
  })

  test("an ask is answered through REST, and the tool runs", async () => {
    const { hub, id, agent } = await begin(cell, TOUCH, { prompt: "make it" })
    const ask = await pendingAsk(hub)
    expect(ask).toMatchObject({ sessionId: id, kind: "tool", toolName: "Bash", state: "pending" })
    await until(hub, id, "waiting")
    const settled = await hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow", inputHash: ask.inputHash })
    expect(settled).toMatchObject({ state: "allowed", settledBy: "admin", via: "person" })
    await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).turns, POLL).toBe(1)
    expect(hasMade(agent)).toBe(true)
    const again = await hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "deny" })
    expect(again).toMatchObject({ status: 409, body: { error: { code: "ask/settled" }, ask: { state: "allowed" } } })
  })

  test("killed with an ask pending, the hub comes back with it, and its answer completes the turn", async () => {
    const { hub, id, agent } = await begin(cell, TOUCH, { prompt: "make it" })
    const ask = await pendingAsk(hub)
    await hub.kill()
    await hub.startAgain()
    expect((await hub.get(`/api/asks/${ask.id}`)).state).toBe("pending")
    await until(hub, id, "waiting")
    await hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
    await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).turns, POLL).toBe(1)
    expect(hasMade(agent)).toBe(true)
    const { events } = await hub.get(`/api/sessions/${id}/events`)
    const asked = events.filter((event: Json) => event.message.type === "control_request")
    expect(asked).toHaveLength(1)
    const uuids = events.flatMap((event: Json) => event.message.uuid ?? [])
    expect(new Set(uuids).size).toBe(uuids.length)
    await hub.post(`/api/sessions/${id}/messages`, { content: "and again" })
    await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).turns, POLL).toBe(2)
  })
}
