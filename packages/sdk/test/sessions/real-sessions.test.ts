import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { textOf } from "@signalbox/protocol"
import type { Scenario } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { type AgentFolder, makeFolder, withAgent } from "../../../../test/conformance/agent-host.ts"
import { allowTools } from "../../../../test/conformance/answers.ts"
import type { Cell } from "../../../../test/conformance/cells.ts"
import { claudeVersionsNow } from "../../../../test/gate.ts"
import { getSessionMessages, listSessions, listSubagents } from "../../src/sessions/index.ts"
import { expectSame, expectSameChange, readAll } from "./both.ts"

const cellOf = (version: string): Cell => ({ version, road: "stdio", name: `${version} stdio` })

interface Talk {
  readonly prompts: readonly string[]
  readonly scenario: Scenario
  readonly resume?: string
  readonly fork?: boolean
}

/** Has the CLI lead a conversation in a folder, and returns the session's id. */
async function talk(version: string, folder: AgentFolder, { prompts, scenario, resume, fork }: Talk): Promise<string> {
  let id = ""
  const flags = { ...(resume === undefined ? {} : { resume }), ...(fork === true ? { forkSession: true } : {}) }
  await withAgent(cellOf(version), { scenario, folder, flags, onRequest: allowTools }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    for (const prompt of prompts) {
      const result = (await agent.turn(prompt)).at(-1)
      id = (result === undefined ? undefined : textOf(result, "session_id")) ?? id
    }
    await agent.end()
  })
  return id
}

const say = (...texts: string[]): Scenario => ({ turns: texts.map((text) => ({ steps: [{ say: text }] })) })

const tools: Scenario = {
  turns: [
    {
      steps: [
        { think: "hm" },
        {
          reply: [
            { tool: "Bash", input: { command: "echo 1" } },
            { tool: "Bash", input: { command: "echo 2" } },
          ],
        },
        { say: "Both." },
      ],
    },
  ],
}

const helper = (tool: string): Scenario => ({
  turns: [
    {
      steps: [
        { tool, input: { description: "look", prompt: "look at it", subagent_type: "general-purpose" } },
        { say: "Back." },
      ],
    },
  ],
  side: { agent: "I looked." },
})

function filesOf(projects: string): Record<string, string> {
  const paths = readdirSync(projects, { recursive: true, encoding: "utf8" })
  const files = paths.filter((path) => statSync(join(projects, path)).isFile())
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(projects, path), "utf8")]))
}

describe("sessions that a real CLI left", () => {
  it.each(claudeVersionsNow)(
    "[Z16] %s: are read and forked as the official SDK does it",
    { timeout: 300_000 },
    async (version) => {
      const folder = await makeFolder()
      const config = join(folder.home, ".claude")
      const before = process.env["CLAUDE_CONFIG_DIR"]
      process.env["CLAUDE_CONFIG_DIR"] = config
      try {
        const first = await talk(version, folder, { prompts: ["hello there"], scenario: say("Hello.") })
        await talk(version, folder, { prompts: ["two tools"], scenario: tools })
        const sub = await talk(version, folder, {
          prompts: ["ask"],
          scenario: helper(version === "2.1.325" ? "Agent" : "Task"),
        })
        await talk(version, folder, {
          prompts: ["long ago", "/compact", "now"],
          scenario: say("Yes.", "Still.", "Yes."),
        })
        expect(await talk(version, folder, { prompts: ["again"], scenario: say("Again."), resume: first })).toBe(first)
        const fork = await talk(version, folder, {
          prompts: ["aside"],
          scenario: say("Aside."),
          resume: first,
          fork: true,
        })
        expect(fork).not.toBe(first)
        await expectSame(readAll)
        await expectSame((sdk) => sdk.listSessions({ dir: folder.cwd }))
        await expectSame((sdk) => sdk.listSessions({ dir: folder.cwd, includeProgrammatic: false }))
        const said = (await getSessionMessages(fork)).filter(({ type }) => type === "user")
        expect(said.map(({ message }) => JSON.stringify(message))).toEqual(
          ["hello there", "again", "aside"].map((text) => expect.stringContaining(text)),
        )
        expect(await listSubagents(sub)).toHaveLength(1)
        const files = filesOf(join(config, "projects"))
        for (const session of await listSessions())
          await expectSameChange(files, (sdk) => sdk.forkSession(session.sessionId))
      } finally {
        if (before === undefined) delete process.env["CLAUDE_CONFIG_DIR"]
        else process.env["CLAUDE_CONFIG_DIR"] = before
        await folder.remove()
      }
    },
  )

  it("[Z16] a session forked by us is resumed by the CLI with its history", { timeout: 120_000 }, async () => {
    const folder = await makeFolder()
    const before = process.env["CLAUDE_CONFIG_DIR"]
    process.env["CLAUDE_CONFIG_DIR"] = join(folder.home, ".claude")
    try {
      const { forkSession } = await import("../../src/sessions/index.ts")
      const first = await talk("2.1.325", folder, { prompts: ["remember the fox"], scenario: say("I do.") })
      const { sessionId } = await forkSession(first, { title: "A fork" })
      const flags = { resume: sessionId }
      await withAgent(cellOf("2.1.325"), { scenario: say("The fox."), folder, flags }, async (agent) => {
        await agent.request({ subtype: "initialize" })
        await agent.turn("what was it?")
        expect(JSON.stringify(agent.api.requests.at(-1))).toContain("remember the fox")
      })
      await expectSame(readAll)
    } finally {
      if (before === undefined) delete process.env["CLAUDE_CONFIG_DIR"]
      else process.env["CLAUDE_CONFIG_DIR"] = before
      await folder.remove()
    }
  })
})
