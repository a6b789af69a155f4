import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, expect, it } from "vitest"
import { runsNow } from "../gate.ts"
import { startAgent } from "./agent-process.ts"
import { HubProcess, type Json } from "./hub-process.ts"

const WAIT = { timeout: 60_000, interval: 50 }

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

/** It works on while nobody hears it, and then asks something that nobody hears either. */
const SCENARIO: Scenario = {
  turns: [
    {
      steps: [
        { say: "Here." },
        { tool: "Bash", input: { command: "sleep 3" } },
        { tool: "Bash", input: { command: "touch away.txt" } },
        { tool: "Bash", input: { command: "node -e 0" } },
        { say: "Done." },
      ],
    },
  ],
}

async function eventsOf(hub: HubProcess, id: string): Promise<Json[]> {
  return (await hub.get(`/api/sessions/${id}/events?limit=1000`)).events
}

for (const kind of ["simulator", "claude"] as const) {
  const title = "an agent without a token that worked on while the hub was gone goes on in its session, and is answered"
  if (kind === "claude" && !runsNow(`hub with ${kind} 2.1.120`, title)) continue
  it(`[HS41] ${title} (${kind} 2.1.120)`, async () => {
    const hub = await HubProcess.start(["--anonymous-agents"])
    open.push(() => hub.dispose())
    const real = kind === "simulator" ? ["--simulate-tools", "real"] : []
    const agent = await startAgent({
      kind,
      version: "2.1.120",
      url: hub.ready.url.replace("http", "ws"),
      scenario: SCENARIO,
      args: [...real, "--permission-mode", "acceptEdits", "--allowedTools", "Bash(sleep:*)", "Bash(touch:*)"],
    })
    open.push(() => agent.dispose())
    const list = async (): Promise<Json[]> => (await hub.get("/api/sessions")).sessions
    await expect.poll(async () => (await list()).map(({ state }) => state), WAIT).toEqual(["idle"])
    const [{ id }] = await list()
    await hub.post(`/api/sessions/${id}/messages`, { content: "go" })
    await expect.poll(async () => JSON.stringify(await eventsOf(hub, id)), WAIT).toContain("sleep 3")
    await hub.kill()
    await expect.poll(() => existsSync(join(agent.cwd, "away.txt")), WAIT).toBe(true)
    await hub.startAgain()
    await expect.poll(async () => (await hub.get("/api/asks?state=pending")).asks.length, WAIT).toBe(1)
    const [ask] = (await hub.get("/api/asks?state=pending")).asks
    expect(ask).toMatchObject({ sessionId: id, input: { command: "node -e 0" } })
    await hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
    await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).lastLine, WAIT).toBe("Done.")
    const events = await eventsOf(hub, id)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1))
    const uuids = events.flatMap(({ message }) => (message.uuid === undefined ? [] : [message.uuid]))
    expect(new Set(uuids).size).toBe(uuids.length)
    expect(JSON.stringify(events)).toContain("touch away.txt")
    expect((await list()).filter(({ state }) => state !== "ended").map((session) => session.id)).toEqual([id])
  }, 240_000)
}
