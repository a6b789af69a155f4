import { beginCompaction, compactionOf, endCompaction } from "./asides.ts"
import type { AgentCore } from "./core.ts"

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
  if (name === "cost" || (name === "usage" && core.profile.quirks.hasUsageCommand)) return costCommand(name)
  const { skills, commands } = core.launch.pages
  const known = [...core.profile.catalog.commands, ...[...skills, ...commands].map(({ info }) => info)]
  const isKnown = known.some((command) => command.name === name || command.aliases?.includes(name))
  // The newest generation leaves it to the model to make something of a command that it does not know.
  const { unknownCommand } = core.profile.quirks
  if (isKnown || unknownCommand === "left-to-model") return undefined
  const unknown = unknownCommand === "skill" ? `Unknown skill: ${name}` : `Unknown command: /${name}`
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
    if (profile.quirks.tellsClear) {
      wire.emit({
        type: "conversation_reset",
        new_conversation_id: sessionId,
        uuid: random.uuid(),
        trigger: "clear",
        user_message_uuid: random.uuid(),
        timestamp: wire.timestamp(),
        session_id: wire.sessionId,
      })
      core.tasks.tellAll()
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
      if (!core.profile.quirks.costIsReply) {
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

/** As `/cost` and `get_session_cost` tell it. */
export function costText(core: AgentCore): string {
  const lines = [
    `Total cost:            $${core.ledger.totalCostUsd.toFixed(4)}`,
    `Total duration (API):  ${Math.round(core.ledger.apiMs / 1000)}s`,
    "Total duration (wall): 0s",
    "Total code changes:    0 lines added, 0 lines removed",
  ]
  const models = [...core.ledger.spending].map(
    ([model, { input, output, costUsd }]) =>
      `     ${model}:  ${input} input, ${output} output ($${costUsd.toFixed(4)})`,
  )
  const usage =
    models.length === 0
      ? ["Usage:                 0 input, 0 output, 0 cache read, 0 cache write"]
      : ["Usage by model:", ...models]
  return [...lines, ...usage].join("\n")
}
