import { beginCompaction, compactionOf, endCompaction } from "./compaction.ts"
import type { AgentCore } from "./core.ts"
import { costText } from "./cost-text.ts"

/** What a command of the CLI's own came to: `text` is the result's. */
export interface LocalCommand {
  readonly name: string
  /** Before the turn's init. */
  before?(core: AgentCore, signal: AbortSignal): Promise<void>
  /** After it. Returns the result's text. */
  after(core: AgentCore): string
}

/** The command that a message is, if it is one that the model never sees. */
export function localCommand(core: AgentCore, text: string): LocalCommand | undefined {
  const name = /^\/([\w:-]+)/.exec(text)?.[1]
  if (name === undefined) return undefined
  if (name === "compact") return compactCommand(core)
  if (name === "clear") return clearCommand
  if (name === "cost" || (name === "usage" && core.profile.generation >= 120)) return costCommand(name)
  const { skills, commands } = core.launch.pages
  const known = [...core.profile.catalog.commands, ...[...skills, ...commands].map(({ info }) => info)]
  const isKnown = known.some((command) => command.name === name || command.aliases?.includes(name))
  // The newest generation leaves it to the model to make something of a command that it does not know.
  if (isKnown || core.profile.generation === 325) return undefined
  const unknown = core.profile.generation === 37 ? `Unknown skill: ${name}` : `Unknown command: /${name}`
  return { name, after: () => unknown }
}

function compactCommand(core: AgentCore): LocalCommand {
  const compaction = compactionOf(core, "manual")
  let told = ""
  return {
    name: "compact",
    async before(agent, signal) {
      told = await beginCompaction(agent, compaction, signal)
    },
    after(agent) {
      endCompaction(agent, compaction)
      agent.wire.replay(`<local-command-stdout>Compacted ${told}</local-command-stdout>`)
      return ""
    },
  }
}

/** A new conversation, under an id of its own. */
const clearCommand: LocalCommand = {
  name: "clear",
  async before(core) {
    const { wire, random, profile } = core
    core.history.length = 0
    const sessionId = random.uuid()
    if (profile.generation === 325) {
      wire.emit({
        type: "conversation_reset",
        new_conversation_id: sessionId,
        uuid: random.uuid(),
        trigger: "clear",
        user_message_uuid: random.uuid(),
        timestamp: wire.timestamp(),
        session_id: wire.sessionId,
      })
      core.tasks.tellAll(core)
      core.ledger.spending.clear()
    }
    wire.sessionId = sessionId
    core.transcript.restart(sessionId)
  },
  after: () => "",
}

function costCommand(name: string): LocalCommand {
  return {
    name,
    after(core) {
      const text = costText(core)
      const output = `<local-command-stdout>${text}</local-command-stdout>`
      if (core.profile.generation === 37) {
        core.wire.replay(output)
        return ""
      }
      const message = core.profile.shapes.syntheticMessage(core.random.uuid(), text)
      const run = { local_command_source: output, local_command_run: { command: "usage", args: "" } }
      core.wire.assistant(message, run)
      return text
    },
  }
}
