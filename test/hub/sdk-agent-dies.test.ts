import { type HubOptions, type Options, query, type SDKMessage } from "@signalbox/sdk"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { type AgentProcess, startAgent } from "./agent-process.ts"
import { HubProcess } from "./hub-process.ts"

const POLL = { timeout: 30_000, interval: 50 }
const TOUCH: Scenario = {
  turns: [
    { steps: [{ tool: "Bash", input: { command: "touch made", description: "make a file" } }, { say: "Made it." }] },
  ],
}

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

interface Setting {
  readonly hub: HubProcess
  readonly agent: AgentProcess
  readonly at: HubOptions & { session: string }
  /** Another process in the first one's place. */
  readonly replace: () => Promise<AgentProcess>
}

async function begin(): Promise<Setting> {
  const hub = await HubProcess.start()
  open.push(hub)
  const { id, ingress } = await hub.post("/api/sessions", { agent: "external" })
  const start = async () => {
    const agent = await startAgent({ kind: "simulator", version: "2.1.120", ...ingress, scenario: TOUCH })
    open.push(agent)
    return agent
  }
  const agent = await start()
  await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).state, POLL).toBe("idle")
  return { hub, agent, at: { url: hub.ready.url, token: hub.ready.token, session: id }, replace: start }
}

/** A query that is in the middle of its turn, with a question open that nobody answers. */
async function inMidTurn(at: HubOptions): Promise<{ end: Promise<unknown>; seen: SDKMessage[] }> {
  let asked = 0
  const canUseTool: Options["canUseTool"] = () => {
    asked++
    return new Promise(() => undefined)
  }
  const seen: SDKMessage[] = []
  const read = async () => {
    for await (const message of query({ prompt: "make it", options: { hub: at, canUseTool } })) seen.push(message)
  }
  const end = read().then(
    () => "no error",
    (error: unknown) => error,
  )
  await expect.poll(() => asked, POLL).toBe(1)
  await expect.poll(() => seen.some((message) => message.type === "assistant"), POLL).toBe(true)
  return { end, seen }
}

describe("an agent of a hub that dies in the middle of a turn", () => {
  it("[Q79] the query fails with what the hub noted of its end", async () => {
    const { hub, at } = await begin()
    const { end } = await inMidTurn(at)
    await hub.call("DELETE", `/api/sessions/${at.session}`)
    const { exit } = await hub.get(`/api/sessions/${at.session}`)
    const message: unknown = expect.stringContaining(exit.reason)
    expect(await end).toMatchObject({ code: "hub/session-ended", message, details: { reason: exit.reason } })
  })

  it("[Q79] one that does not come back is waited for as long as a hub, and then it is said", async () => {
    const { agent, at } = await begin()
    const { end } = await inMidTurn({ ...at, patienceMs: 500 })
    agent.child.kill("SIGKILL")
    const message: unknown = expect.stringContaining("did not come back within 500 ms")
    expect(await end).toMatchObject({ code: "hub/agent-lost", message })
  })

  it("[Q79] another process in its place does not go on with the turn, and the query does not wait for that", async () => {
    const { agent, at, replace } = await begin()
    const { end, seen } = await inMidTurn(at)
    agent.child.kill("SIGKILL")
    await expect.poll(() => seen.some((message) => isNote(message, "disconnected")), POLL).toBe(true)
    await replace()
    expect(await end).toMatchObject({ code: "hub/agent-lost" })
    expect(seen.some((message) => isNote(message, "connected"))).toBe(true)
  })
})

/** Notes of the hub are no messages of the official types. */
function isNote(message: object, subtype: string): boolean {
  return Reflect.get(message, "type") === "hub" && Reflect.get(message, "subtype") === subtype
}
