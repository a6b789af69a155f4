import { z } from "zod"

// The scenario language: what the model does, turn by turn. It says nothing about HTTP or about the CLI's wire, so that
// the scripted Messages API and a player of the CLI's own side can share it.

/** Enough for any flood a test needs, and small enough that a typing error does not fill a disk. */
const MAX_TEXT_UNITS = 256 * 1024 * 1024
const MAX_PAUSE_MS = 60 * 60 * 1000
const MAX_REPEATED_ERRORS = 1000

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
const toolStep = z.strictObject({
  tool: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  id: z.exactOptional(z.string().regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, _ and - only")),
  ...pace,
})
const pauseStep = z.strictObject({ pause: pauseMs })
const hangStep = z.strictObject({
  hang: z.union([z.literal(true), z.string().min(1)], { error: "must be true or a name" }),
})
const cutStep = z.strictObject({ cut: z.literal(true) })
const streamErrorStep = z.strictObject({ streamError: z.string().min(1), message: z.exactOptional(z.string()) })

const BLOCKS = [sayStep, thinkStep, toolStep, pauseStep, hangStep, cutStep, streamErrorStep] as const
const BLOCK_NAMES = "say, think, tool, pause, hang, cut, streamError"

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

/** What can be said of one API call, and as a default of every call of a turn. */
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

const stepSchema = z.union([...BLOCKS, replyStep, errorStep], {
  error: `must be an object with one of: ${BLOCK_NAMES}, reply, error`,
})

const turnSchema = z.strictObject({
  on: z.exactOptional(z.string().min(1)),
  repeat: z.exactOptional(z.boolean()),
  steps: z.array(stepSchema),
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

export const scenarioSchema = z.strictObject({
  name: z.exactOptional(z.string()),
  description: z.exactOptional(z.string()),
  turns: z.array(turnSchema).min(1),
  side: z.exactOptional(sideSchema),
})

export type ScenarioText = z.infer<typeof textSchema>
export type SayStep = z.infer<typeof sayStep>
export type ThinkStep = z.infer<typeof thinkStep>
export type ToolStep = z.infer<typeof toolStep>
export type Block = z.infer<typeof blockSchema>
export type ErrorStep = z.infer<typeof errorStep>
export type Step = z.infer<typeof stepSchema>
export type StopReason = z.infer<typeof stopReason>
export type Stop = z.infer<typeof stopSchema>
export type Usage = z.infer<typeof usageSchema>
export type Turn = z.infer<typeof turnSchema>
/** What calls beside the conversation are answered; each has a default. */
export type SideReplies = z.infer<typeof sideSchema>
export type Scenario = z.infer<typeof scenarioSchema>
