import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { composeUserMessage } from "@signalbox/protocol"
import { expect } from "vitest"
import { type AgentHost, withAgent } from "./agent-host.ts"
import { SDK_URL, SESSION_TOKEN } from "./agent-link.ts"
import { conformance, isOldest } from "./cells.ts"

const hello = { turns: [{ steps: [{ say: "Hello." }] }, { steps: [{ say: "Again." }] }] }
const dialling = { roads: ["websocket"] } as const

conformance(
  "[V14] --sdk-url alone is enough: the formats are set by it, and permissions are asked over the wire",
  (cell) =>
    withAgent(cell, { scenario: hello, argv: ["--sdk-url", SDK_URL] }, async (agent) => {
      await agent.ask({ subtype: "initialize" })
      expect((await agent.turn("hi")).at(-1)).toMatchObject({ result: "Hello." })
      expect(agent.link.upgrades[0]).toMatchObject({ authorization: `Bearer ${SESSION_TOKEN}` })
    }),
  dialling,
)

conformance(
  "[V14] another output format beside --sdk-url is refused",
  (cell) =>
    withAgent(cell, { scenario: hello, argv: ["--sdk-url", SDK_URL, "--output-format", "text"] }, async (agent) => {
      expect(await agent.exited()).toMatchObject({ error: { code: "process/exit", details: { exitCode: 1 } } })
    }),
  dialling,
)

conformance(
  "[V15] the prompt of -p is not used with --sdk-url: the agent waits for a message",
  (cell) =>
    withAgent(cell, { scenario: hello, argv: ["--sdk-url", SDK_URL, "-p", "placeholder"] }, async (agent) => {
      await agent.ask({ subtype: "initialize" })
      await agent.turn("the real words")
      const prompts = JSON.stringify(agent.api.requests.map((request) => request.messages))
      expect(prompts).toContain("the real words")
      expect(prompts).not.toContain("placeholder")
    }),
  dialling,
)

/** A turn whose end is written while the host is away; resolves when the host is back and was answered again. */
async function finishWhileAway(agent: AgentHost): Promise<void> {
  await agent.ask({ subtype: "initialize" })
  await agent.prompt("hi")
  await agent.until("system", "init")
  await agent.api.untilHanging()
  await agent.link.goAway()
  agent.api.release()
  await transcriptHas(agent, "While you were away.")
  await agent.link.listenAgain()
  await agent.request({ subtype: "mcp_status" })
}

/** The CLI's own record on disk tells when it has taken in the model's reply. */
async function transcriptHas(agent: AgentHost, text: string): Promise<void> {
  const projects = join(agent.folder.home, ".claude", "projects")
  for (;;) {
    const files = existsSync(projects) ? readdirSync(projects, { recursive: true, encoding: "utf8" }) : []
    const written = files
      .filter((file) => file.endsWith(".jsonl"))
      .map((file) => readFileSync(join(projects, file), "utf8"))
    if (written.some((content) => content.includes(text))) return
    await delay(20)
  }
}

const held = { turns: [{ steps: [{ hang: true as const }, { say: "While you were away." }] }] }

conformance(
  "[V18] what is said while the host is away: 2.1.37 loses it, 2.1.120 sends all it kept again",
  (cell) =>
    withAgent(cell, { scenario: held }, async (agent) => {
      await finishWhileAway(agent)
      if (isOldest(cell)) {
        expect(JSON.stringify(agent.seen)).not.toContain("While you were away.")
        return
      }
      expect(await agent.until("result")).toMatchObject({ result: "While you were away." })
      const inits = agent.seen.filter((message) => message["subtype"] === "init").map((message) => message["uuid"])
      expect(inits.length).toBeGreaterThan(1)
      expect(new Set(inits).size).toBe(1)
    }),
  dialling,
)

conformance(
  "[V19] X-Last-Request-Id names the last message written, delivered or not",
  (cell) =>
    withAgent(cell, { scenario: held }, async (agent) => {
      await finishWhileAway(agent)
      const named = agent.link.upgrades.at(-1)?.["x-last-request-id"]
      expect(named).toEqual(expect.any(String))
      const delivered = agent.seen.some((message) => message["uuid"] === named)
      expect(delivered).toBe(!isOldest(cell))
    }),
  dialling,
)

conformance("[V40] a message with the same uuid starts no second turn", (cell) =>
  withAgent(cell, { scenario: hello }, async (agent) => {
    await agent.ask({ subtype: "initialize" })
    const message = composeUserMessage("hi", { uuid: "7a7a7a7a-1111-4222-8333-444455556666" })
    await agent.send(message)
    await agent.until("result")
    await agent.send(message)
    expect((await agent.turn("something else")).filter(({ type }) => type === "result")).toHaveLength(1)
    expect(agent.api.requests.filter((request) => request.kind === "conversation")).toHaveLength(2)
  }),
)
