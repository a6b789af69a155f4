import type { Scenario } from "@signalbox/simulator"
import { expect, it, onTestFinished } from "vitest"
import { OfficialClients } from "../../packages/hub/test/clients/official-clients.ts"
import { runsNow } from "../gate.ts"
import { startAgent } from "./agent-process.ts"
import { HubProcess } from "./hub-process.ts"

/** A tool to be asked about, and a tool of each of the two clients that host some. */
const SCENARIO: Scenario = {
  turns: [
    {
      repeat: true,
      steps: [
        { tool: "Bash", input: { command: "touch made", description: "Make a file" }, result: "" },
        { tool: "mcp__first__shout", input: { text: "one" } },
        { tool: "mcp__second__shout", input: { text: "two" } },
        { say: "All done." },
      ],
    },
  ],
}

const NAMES = ["alpha", "beta", "gamma"]
const KILLS = 2

for (const kind of ["simulator", "claude"] as const) {
  const cell = `official browser clients on ${kind} 2.1.120`
  const title = "[RC40] over sse they go on after the hub was killed, with their hooks and tools, and miss nothing"
  if (kind === "claude" && !runsNow(cell, title)) continue
  it(`${cell}: ${title}`, async () => {
    const hub = await HubProcess.start()
    onTestFinished(() => hub.dispose())
    const { id, ingress } = await hub.post("/api/sessions", { agent: "external", hooks: ["PreToolUse"] })
    const { url, token } = ingress
    const agent = await startAgent({ kind, version: "2.1.120", url, token, scenario: SCENARIO })
    onTestFinished(() => agent.dispose())
    const stateNow = async () => (await hub.get(`/api/sessions/${id}`)).state
    const isIdle = async () => {
      await expect.poll(stateNow, { timeout: 60_000, interval: 100 }).toBe("idle")
    }
    await isIdle()
    const clients = await OfficialClients.start(hub.ready, id, "sse")
    for (const name of NAMES) await clients.until(() => clients.of(name, "initialized").length > 0, `${name} is in`)
    for (let turn = 1; turn <= KILLS + 1; turn += 1) {
      clients.say(NAMES[turn % 2] ?? "", "Go.")
      for (const name of NAMES) await clients.results(name, turn)
      expect(clients.of("alpha", "hook")).toHaveLength(turn)
      expect(clients.of("alpha", "tool")).toEqual(Array.from({ length: turn }, () => "one"))
      expect(clients.of("beta", "tool")).toEqual(Array.from({ length: turn }, () => "two"))
      if (turn > KILLS) break
      await hub.kill()
      await hub.startAgain()
      await isIdle()
    }
    const seen = JSON.stringify(clients.of("gamma", "message"))
    expect(seen.split('"type":"result"'), "nothing came twice").toHaveLength(KILLS + 2)
    expect(clients.told.filter(({ what }) => what === "threw" || what === "ended")).toEqual([])
  }, 300_000)
}
