import type { Envelope } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { type AgentFolder, AgentHost, makeFolder } from "../../../../test/conformance/agent-host.ts"
import type { Cell } from "../../../../test/conformance/cells.ts"
import { claudeVersionsNow } from "../../../../test/gate.ts"

type Flags = NonNullable<Parameters<typeof AgentHost.start>[1]["flags"]>

const scenario = {
  turns: [
    { on: "first", steps: [{ tool: "Bash", input: { command: "echo plum" } }, { say: "The first word is plum." }] },
    { on: "second", steps: [{ say: "The second word is pear." }] },
    { on: "which", steps: [{ say: "Known." }] },
    { on: "again", steps: [{ say: "Still known." }] },
  ],
}

interface Left {
  readonly sessionId: string
  readonly heard: string
  /** The uuid of the last thing said in each turn. */
  readonly ends: readonly string[]
}

/** Two sides that read each other's files: the real CLI and the simulator, each in the other's place. */
function sides(version: string): { name: string; writer: Cell; reader: Cell }[] {
  const real: Cell = { version, road: "stdio", name: `${version} stdio` }
  const simulated: Cell = { ...real, name: `${version} stdio simulated`, isSimulated: true }
  return [
    { name: "the real CLI resumes what the simulator wrote", writer: simulated, reader: real },
    { name: "the simulator resumes what the real CLI wrote", writer: real, reader: simulated },
  ]
}

/** Runs an agent for some turns in the folder. `heard` is what its model was told at the last one. */
async function converse(cell: Cell, folder: AgentFolder, prompts: readonly string[], flags: Flags = {}): Promise<Left> {
  const agent = await AgentHost.start(cell, { folder, scenario, flags, onRequest: () => null })
  try {
    await agent.request({ subtype: "initialize" })
    const turns: Envelope[][] = []
    for (const prompt of prompts) turns.push(await agent.turn(prompt))
    await agent.end()
    const asked = agent.api.requests.filter(({ kind }) => kind === "conversation").at(-1)
    const said = turns.map((turn) => turn.findLast(({ type }) => type === "assistant"))
    return {
      sessionId: String(turns.at(-1)?.at(-1)?.["session_id"]),
      heard: JSON.stringify(asked?.messages),
      ends: said.map((message) => String(message?.["uuid"])),
    }
  } finally {
    await agent.dispose()
  }
}

describe.each(claudeVersionsNow)("a session on disk, %s", (version) => {
  for (const { name, writer, reader } of sides(version)) {
    it(`[A33] ${name}: whole, up to a message, and as a fork`, { timeout: 240_000 }, async () => {
      const folder = await makeFolder()
      const left = await converse(writer, folder, ["first", "second"])
      const fork = await converse(reader, folder, ["which"], { resume: left.sessionId, forkSession: true })
      expect(fork.sessionId).not.toBe(left.sessionId)
      for (const words of ["echo plum", "first word is plum", "second word is pear"])
        expect(fork.heard).toContain(words)
      const part = { resume: left.sessionId, resumeSessionAt: left.ends[0] ?? "" }
      const resumedAt = await converse(reader, folder, ["which"], part)
      expect(resumedAt.heard).toContain("first word is plum")
      expect(resumedAt.heard).not.toContain("second word is pear")
      const whole = await converse(reader, folder, ["again"], { resume: fork.sessionId })
      expect(whole.sessionId).toBe(fork.sessionId)
      for (const words of ["second word is pear", "Known."]) expect(whole.heard).toContain(words)
      // And back: who wrote it first reads what the other added.
      const back = await converse(writer, folder, ["again"], { resume: fork.sessionId })
      for (const words of ["echo plum", "second word is pear", "Still known."]) expect(back.heard).toContain(words)
      await folder.remove()
    })
  }
})
