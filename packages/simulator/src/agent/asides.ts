import { defined } from "@signalbox/protocol/envelope"
import { NO_TOKENS } from "@signalbox/protocol/usage"
import { elicitation } from "../mcp/link.ts"
import type { Fields, Quirks } from "../profiles/profile.ts"
import type { AsideStep, CompactStep, ElicitStep, RateLimitStep } from "../scenario/schema.ts"
import type { AgentCore } from "./core.ts"

/** Plays what only the CLI's own side can. */
export async function playAside(core: AgentCore, aside: AsideStep, signal: AbortSignal): Promise<void> {
  if ("rateLimit" in aside) return tellRateLimit(core, aside)
  if ("elicit" in aside) return elicit(core, aside, signal)
  if ("compact" in aside) {
    const compaction = compactionOf(core, aside.compact, aside)
    await beginCompaction(core, compaction, signal)
    return endCompaction(core, compaction)
  }
  const ids = { uuid: core.random.uuid(), session_id: core.wire.sessionId }
  const missing = Object.entries(ids).filter(([name]) => !(name in aside.emit))
  core.wire.emit({ ...aside.emit, ...Object.fromEntries(missing) })
}

/** Older generations know no such message. */
function tellRateLimit(core: AgentCore, step: RateLimitStep): void {
  if (!core.profile.quirks.tellsRateLimits) return
  const type = step.type ?? "five_hour"
  const { rateLimit: status, resetsAt, utilization } = step
  // The newest tells the use of each window always, and once more at the top only near the limit.
  const tellsWindows = core.profile.quirks.tellsWindows && utilization !== undefined
  const info = defined({
    status,
    resetsAt,
    rateLimitType: type,
    utilization: tellsWindows && status !== "allowed_warning" ? undefined : utilization,
    isUsingOverage: false,
    unifiedWindows: tellsWindows ? { [type]: defined({ utilization, resetsAt, status }) } : undefined,
  })
  const ids = { uuid: core.random.uuid(), session_id: core.wire.sessionId }
  core.wire.emit({ type: "rate_limit_event", rate_limit_info: info, ...ids })
}

/** An MCP server wants something from the user. What comes back goes to the server, and nowhere else. */
async function elicit(core: AgentCore, step: ElicitStep, signal: AbortSignal): Promise<void> {
  if (!core.profile.quirks.elicits) return
  const { elicit: message, server, schema, url } = step
  const id = url === undefined ? undefined : core.random.uuid()
  await core.host.ask(elicitation(server, { message, url, id, schema }, url === undefined), { signal })
}

const CONTINUED =
  "This session is being continued from a previous conversation that ran out of context. The summary below covers the " +
  "earlier portion of the conversation."
const DEFAULT_DURATION_MS = 10

interface Compaction {
  readonly trigger: "auto" | "manual"
  readonly summary: string
  readonly preTokens: number
  readonly postTokens: number
  readonly durationMs: number
}

function compactionOf(core: AgentCore, trigger: "auto" | "manual", step: Partial<CompactStep> = {}): Compaction {
  const preTokens = step.preTokens ?? Math.ceil(JSON.stringify(core.history).length / 4)
  return {
    trigger,
    summary: step.summary ?? "The conversation so far was scripted.",
    preTokens,
    postTokens: step.postTokens ?? Math.ceil(preTokens / 10),
    durationMs: step.durationMs ?? DEFAULT_DURATION_MS,
  }
}

/** The hook, the status that it is going on, and the status that it is over. Returns what is told of the hook. */
async function beginCompaction(core: AgentCore, compaction: Compaction, signal: AbortSignal): Promise<string> {
  const { trigger, durationMs, preTokens, postTokens } = compaction
  const isPlain = core.profile.quirks.compaction === "plain"
  const outcomes = await core.hooks.run(core, {
    event: "PreCompact",
    subject: trigger,
    input: { trigger, custom_instructions: isPlain ? "" : null },
    signal,
    base: { omitMode: true, omitEffort: true },
  })
  core.wire.system("status", { status: "compacting" })
  await core.clock.pause(durationMs, signal)
  // The summary is the model's, and paid for.
  const usage = { ...NO_TOKENS, input: preTokens, output: postTokens }
  core.ledger.record(core.state.model, usage, { isMain: false })
  const result = isPlain ? {} : { compact_result: "success" }
  core.wire.system("status", { status: null, ...result })
  return outcomes.map(() => "PreCompact [callback] completed successfully").join("\n")
}

/** The boundary, and the summary that stands for everything before it. */
function endCompaction(core: AgentCore, compaction: Compaction): void {
  const { compaction: kind } = core.profile.quirks
  const uuid = core.random.uuid()
  const parent = kind === "chained" ? { logical_parent_uuid: core.random.uuid() } : {}
  const head = { type: "system", subtype: "compact_boundary", session_id: core.wire.sessionId, uuid }
  core.wire.emit({ ...head, compact_metadata: metadata(kind, compaction), ...parent })
  const content = `${CONTINUED}\n\nSummary:\n${compaction.summary}`
  core.history.splice(0, core.history.length, { role: "user", content: [{ type: "text", text: content }] })
  const synthetic = kind === "plain" ? {} : { isSynthetic: true }
  core.wire.replay(content, core.random.uuid(), { isReplay: false, ...synthetic })
}

function metadata(kind: Quirks["compaction"], { trigger, preTokens, postTokens, durationMs }: Compaction): Fields {
  const base = { trigger, pre_tokens: preTokens }
  if (kind === "plain") return base
  const dropped = kind === "chained" ? { cumulative_dropped_tokens: 0 } : {}
  return { ...base, post_tokens: postTokens, ...dropped, duration_ms: durationMs }
}

/** A command of the CLI's own, and what it says. */
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
