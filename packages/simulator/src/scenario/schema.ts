import { z } from "zod"
import { parseFault } from "../faults/parse-fault.ts"
import { SimulatorError } from "../simulator-error.ts"

// The scenario language: what the model does, turn by turn. It says nothing about HTTP or about the CLI's wire, so that
// the scripted Messages API and a player of the CLI's own side can share it.

/** Enough for any flood a test needs, and small enough that a typing error does not fill a disk. */
const MAX_TEXT_UNITS = 256 * 1024 * 1024
const MAX_PAUSE_MS = 60 * 60 * 1000
const MAX_REPEATED_ERRORS = 1000
const MAX_LOOPS = 1_000_000

const count = z.int().min(0)
const pauseMs = z.number().min(0).max(MAX_PAUSE_MS)

const textSchema = z.union(
  [
    z.string(),
    z.strictObject({ repeat: z.string().min(1), times: z.int().min(1).max(MAX_TEXT_UNITS) }),
    z.strictObject({ repeat: z.string().min(1), bytes: z.int().min(1).max(MAX_TEXT_UNITS) }),
  ],
  { error: "must be a text, { repeat, times } or { repeat, bytes }" },
)

/**
 * How a block is cut into deltas: into `deltas` pieces or pieces of `chunk` characters, `pauseMs` after each. An
 * `unfinished` block lacks its end until the next one begins, so that a cut, an error or a hang comes within it.
 */
const pace = {
  deltas: z.exactOptional(z.int().min(1)),
  chunk: z.exactOptional(z.int().min(1)),
  pauseMs: z.exactOptional(pauseMs),
  unfinished: z.exactOptional(z.boolean()),
}

const sayStep = z.strictObject({ say: textSchema, ...pace })
const thinkStep = z.strictObject({ think: textSchema, signature: z.exactOptional(z.string()), ...pace })
const toolCall = {
  tool: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  id: z.exactOptional(z.string().regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, _ and - only")),
  ...pace,
}

/**
 * The outcome of the tool, where the CLI's own side is played. A real CLI runs its tools for real, whatever stands here.
 * `result` is what the model gets to read; `structured` the tool's own form of it, for those who draw it.
 */
const toolOutcome = {
  result: z.exactOptional(z.union([textSchema, z.array(z.record(z.string(), z.unknown()))])),
  structured: z.exactOptional(z.unknown()),
  isError: z.exactOptional(z.boolean()),
  durationMs: z.exactOptional(pauseMs),
}

const agentToolStep = z.strictObject({ ...toolCall, ...toolOutcome })
const pauseStep = z.strictObject({ pause: pauseMs })
const hangStep = z.strictObject({
  hang: z.union([z.literal(true), z.string().min(1)], { error: "must be true or a name" }),
})
const cutStep = z.strictObject({ cut: z.literal(true) })
const streamErrorStep = z.strictObject({ streamError: z.string().min(1), message: z.exactOptional(z.string()) })

/** The steps of a sub-agent: it speaks and calls tools, and starts no agents of its own. */
const agentSteps = z.array(
  z.union([sayStep, thinkStep, agentToolStep, pauseStep, hangStep], {
    error: "must be an object with one of: say, think, tool, pause, hang",
  }),
)

/** A command that goes on by itself after its call: how long, how it ends, and what it wrote. */
const backgroundRun = z.strictObject({
  durationMs: pauseMs,
  status: z.exactOptional(z.enum(["completed", "failed", "stopped"])),
  summary: z.exactOptional(z.string()),
  output: z.exactOptional(z.string()),
})

const toolStep = z.strictObject({
  ...toolCall,
  ...toolOutcome,
  agent: z.exactOptional(agentSteps),
  background: z.exactOptional(backgroundRun),
  /** The model's steps instead of the rest of its turn when the call is denied, or fails. */
  otherwise: z.exactOptional(agentSteps),
})

const todosStep = z.strictObject({
  todos: z.array(
    z.strictObject({
      content: z.string().min(1),
      status: z.enum(["pending", "in_progress", "completed"]),
      activeForm: z.exactOptional(z.string()),
    }),
  ),
  /** The tool's words. With them the list is kept also where a version has no such tool any more. */
  result: z.exactOptional(z.string()),
})

// Asides: what only the CLI's own side can play. The Messages API passes over them.

const rateLimitStep = z.strictObject({
  rateLimit: z.enum(["allowed", "allowed_warning", "rejected"]),
  type: z.exactOptional(z.string()),
  utilization: z.exactOptional(z.number().min(0)),
  resetsAt: z.exactOptional(z.number()),
})
const compactStep = z.strictObject({
  compact: z.enum(["auto", "manual"]),
  preTokens: z.exactOptional(count),
  postTokens: z.exactOptional(count),
  summary: z.exactOptional(z.string()),
  durationMs: z.exactOptional(pauseMs),
})
const elicitStep = z.strictObject({
  elicit: z.string().min(1),
  server: z.string().min(1),
  schema: z.exactOptional(z.record(z.string(), z.unknown())),
  url: z.exactOptional(z.string()),
})
/** Any message at all, as it is; `uuid` and `session_id` are added where they are missing. */
const emitStep = z.strictObject({ emit: z.looseObject({ type: z.string().min(1) }) })

const ASIDES = [rateLimitStep, compactStep, elicitStep, emitStep] as const

const BLOCKS = [
  sayStep,
  thinkStep,
  toolStep,
  todosStep,
  pauseStep,
  hangStep,
  cutStep,
  streamErrorStep,
  ...ASIDES,
] as const
const BLOCK_NAMES = "say, think, tool, todos, pause, hang, cut, streamError, rateLimit, compact, elicit, emit"

const blockSchema = z.union(BLOCKS, { error: `must be an object with one of: ${BLOCK_NAMES}` })

const stopReason = z.enum([
  "end_turn",
  "tool_use",
  "max_tokens",
  "stop_sequence",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
])
const stopSchema = z.union(
  [
    stopReason,
    z.strictObject({
      reason: stopReason,
      category: z.exactOptional(z.string()),
      explanation: z.exactOptional(z.string()),
      sequence: z.exactOptional(z.string()),
    }),
  ],
  { error: `must be one of ${stopReason.options.join(", ")}, or { reason, category?, explanation?, sequence? }` },
)
const usageSchema = z.strictObject({
  inputTokens: z.exactOptional(count),
  outputTokens: z.exactOptional(count),
  cacheReadTokens: z.exactOptional(count),
  cacheWriteTokens: z.exactOptional(count),
})

/** Fields of one API call, and as a default of every call of a turn. */
const outcome = {
  stop: z.exactOptional(stopSchema),
  usage: z.exactOptional(usageSchema),
  model: z.exactOptional(z.string().min(1)),
}

const replyStep = z.strictObject({ reply: z.array(blockSchema), ...outcome })
const errorStep = z.strictObject({
  error: z.int().min(400).max(599),
  type: z.exactOptional(z.string().min(1)),
  message: z.exactOptional(z.string()),
  retryAfter: z.exactOptional(z.number().min(0)),
  times: z.exactOptional(z.int().min(1).max(MAX_REPEATED_ERRORS)),
})

const plainStepSchema = z.union([...BLOCKS, replyStep, errorStep], {
  error: `must be an object with one of: ${BLOCK_NAMES}, reply, error`,
})

/**
 * Steps played again and again, made as they are needed. In every text `{{n}}` is the number of the round, or whatever
 * `as` calls it, and each name of `vary` an item of its list, another one every round.
 */
const word = z.string().regex(/^\w+$/, "must be one word")
const loopFields = {
  loop: z.int().min(1).max(MAX_LOOPS),
  as: z.exactOptional(word),
  vary: z.exactOptional(z.record(word, z.array(z.string()).min(1))),
}
const innerLoopStep = z.strictObject({ ...loopFields, steps: z.array(plainStepSchema).min(1) })
const loopStep = z.strictObject({
  ...loopFields,
  steps: z
    .array(
      z.union([...BLOCKS, replyStep, errorStep, innerLoopStep], {
        error: `must be an object with one of: ${BLOCK_NAMES}, reply, error, or a loop without another in it`,
      }),
    )
    .min(1),
})

const stepSchema = z.union([...BLOCKS, replyStep, errorStep, loopStep], {
  error: `must be an object with one of: ${BLOCK_NAMES}, reply, error, loop`,
})

const turnSchema = z.strictObject({
  /** Words of a user that would get this turn. Nobody checks it: it is for those who show the scenario. */
  prompt: z.exactOptional(z.string().min(1)),
  on: z.exactOptional(z.string().min(1)),
  repeat: z.exactOptional(z.boolean()),
  steps: z.array(stepSchema),
  /** The cost of the turn where the CLI's own side is played, instead of a price made from its tokens. */
  costUsd: z.exactOptional(z.number().min(0)),
  ...outcome,
})

const sideSchema = z.strictObject({
  title: z.exactOptional(z.string()),
  bashPrefix: z.exactOptional(z.string()),
  filePaths: z.exactOptional(z.string()),
  compact: z.exactOptional(z.string()),
  webSearch: z.exactOptional(z.string()),
  agent: z.exactOptional(z.string()),
  other: z.exactOptional(z.string()),
})

const MAX_FAULTS = 100

/** One fault, in the words of `--fault`. */
const faultSpec = z.string().check(({ value, issues }) => {
  try {
    parseFault(value)
  } catch (error) {
    if (!(error instanceof SimulatorError)) throw error
    issues.push({ code: "custom", message: error.message, input: value })
  }
})

/** The `faults` of a scenario: what goes wrong while its agent plays. The scripted Messages API passes over them. */
const faultsSchema = z.array(faultSpec).max(MAX_FAULTS)

export const scenarioSchema = z.strictObject({
  name: z.exactOptional(z.string()),
  description: z.exactOptional(z.string()),
  /** Files that are there from the beginning, by their path, for tools that only pretend. */
  files: z.exactOptional(z.record(z.string().min(1), z.string())),
  turns: z.array(turnSchema).min(1),
  side: z.exactOptional(sideSchema),
  faults: z.exactOptional(faultsSchema),
})

export type ScenarioText = z.infer<typeof textSchema>
export type SayStep = z.infer<typeof sayStep>
export type ThinkStep = z.infer<typeof thinkStep>
export type ToolStep = z.infer<typeof toolStep>
export type AgentStep = z.infer<typeof agentSteps>[number]
type TodosStep = z.infer<typeof todosStep>
export type RateLimitStep = z.infer<typeof rateLimitStep>
export type CompactStep = z.infer<typeof compactStep>
export type ElicitStep = z.infer<typeof elicitStep>
export type AsideStep = z.infer<(typeof ASIDES)[number]>
/** A list of todos is the call of the tool that keeps it. */
export type WrittenBlock = z.infer<typeof blockSchema>
export type Block = Exclude<WrittenBlock, TodosStep>
export type ErrorStep = z.infer<typeof errorStep>
/** A step that is no loop. */
export type PlainStep = z.infer<typeof plainStepSchema>
export type LoopStep = z.infer<typeof loopStep>
export type Step = z.infer<typeof stepSchema>
export type StopReason = z.infer<typeof stopReason>
export type Stop = z.infer<typeof stopSchema>
export type Usage = z.infer<typeof usageSchema>
export type Turn = z.infer<typeof turnSchema>
/** The answers to calls beside the conversation; each has a default. */
export type SideReplies = z.infer<typeof sideSchema>
export type Scenario = z.infer<typeof scenarioSchema>
