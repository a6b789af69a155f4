import { z } from "zod"
import { answered, identity, openEnum, openUnion, schemasOf } from "./parts.ts"

export const ToolInput = z.record(z.string(), z.unknown())

/** Where the bytes of an image or a document are. */
const BlockSource = z.looseObject({
  type: openEnum(["base64", "url", "file", "text", "content"]),
  media_type: z.string().optional(),
  data: z.string().optional(),
  url: z.string().optional(),
  file_id: z.string().optional(),
})

const returned = schemasOf(
  "type",
  {},
  {
    text: { text: z.string(), citations: z.array(z.unknown()).nullish() },
    image: { source: BlockSource },
    document: { source: BlockSource, title: z.string().nullish(), context: z.string().nullish() },
  },
)
/** A tool's return value: the API nests no tool calls here, so the union does not recurse. */
const ToolResultContent = openUnion("type", Object.values(returned))

const blocks = schemasOf(
  "type",
  {},
  {
    thinking: { thinking: z.string(), signature: z.string().nullish() },
    redacted_thinking: { data: z.string() },
    tool_use: { id: z.string(), name: z.string(), input: ToolInput },
    tool_result: {
      tool_use_id: z.string(),
      content: z.union([z.string(), z.array(ToolResultContent)]).nullish(),
      is_error: z.boolean().nullish(),
    },
  },
)

/** Tools that the API runs itself. Their inputs and results are the API's affair and stay opaque. */
const ServerToolUseBlock = z.looseObject({
  type: z.enum(["server_tool_use", "mcp_tool_use"]),
  id: z.string(),
  name: z.string(),
  input: z.unknown().optional(),
})
const ServerToolResultBlock = z.looseObject({
  type: z.enum([
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_result",
  ]),
  tool_use_id: z.string(),
  content: z.unknown().optional(),
})

export const ContentBlock = openUnion("type", [
  ...Object.values(returned),
  ...Object.values(blocks),
  ServerToolUseBlock,
  ServerToolResultBlock,
])
export type ContentBlock = z.infer<typeof ContentBlock>

/** The API's counts besides input and output; the cache counts are `null` where no cache was involved. */
const usageDetails = {
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  cache_creation: z
    .looseObject({ ephemeral_5m_input_tokens: z.number().nullish(), ephemeral_1h_input_tokens: z.number().nullish() })
    .nullish(),
  server_tool_use: z
    .looseObject({ web_search_requests: z.number().nullish(), web_fetch_requests: z.number().nullish() })
    .nullish(),
  service_tier: z.string().nullish(),
  output_tokens_details: z.looseObject({ thinking_tokens: z.number().nullish() }).nullish(),
  inference_geo: z.string().nullish(),
  speed: z.string().nullish(),
  // Only seen empty.
  iterations: z.array(z.unknown()).nullish(),
  fallback_credit: z.unknown().optional(),
}

/** Token counts as the API gives them. */
export const Usage = z.looseObject({ input_tokens: z.number(), output_tokens: z.number(), ...usageDetails })

const STOP_REASONS = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
] as const
export const StopReason = openEnum(STOP_REASONS)
export type StopReason = z.infer<typeof StopReason>

/** How a message ended: in the message itself, and in the `message_delta` that closes its stream. */
const ending = {
  stop_reason: StopReason.nullish(),
  stop_sequence: z.string().nullish(),
  stop_details: z.unknown().optional(),
  container: z.unknown().optional(),
}

/** How much of its thinking a model shows. 2.1.325 also says `updates`, which is not published. */
export const ThinkingDisplay = openEnum(["summarized", "omitted", "highlights"])
export type ThinkingDisplay = z.infer<typeof ThinkingDisplay>

/** The API's message. Emitted once per content block, before `message_delta`: hence `stop_reason: null`. */
export const ApiMessage = z.looseObject({
  id: z.string(),
  type: z.literal("message").optional(),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(ContentBlock),
  ...ending,
  usage: Usage,
  context_management: z.unknown().optional(),
  diagnostics: z.unknown().optional(),
})
export type ApiMessage = z.infer<typeof ApiMessage>

const deltas = schemasOf(
  "type",
  {},
  {
    text_delta: { text: z.string() },
    input_json_delta: { partial_json: z.string() },
    thinking_delta: { thinking: z.string() },
    signature_delta: { signature: z.string() },
    citations_delta: { citation: z.unknown().optional() },
  },
)
export const ContentDelta = openUnion("type", Object.values(deltas))

const events = schemasOf(
  "type",
  {},
  {
    message_start: { message: ApiMessage },
    content_block_start: { index: z.number(), content_block: ContentBlock },
    content_block_delta: { index: z.number(), delta: ContentDelta },
    content_block_stop: { index: z.number() },
    message_delta: {
      delta: z.looseObject(ending),
      usage: z
        .looseObject({ output_tokens: z.number().nullish(), input_tokens: z.number().nullish(), ...usageDetails })
        .nullish(),
      context_management: z.unknown().optional(),
    },
    message_stop: {},
    ping: {},
    error: { error: z.looseObject({ type: z.string(), message: z.string() }) },
  },
)
/** An event of the API's stream, passed on as it came. */
export const ApiStreamEvent = openUnion("type", Object.values(events))
export type ApiStreamEvent = z.infer<typeof ApiStreamEvent>

/** Only with `--include-partial-messages`. */
export const StreamEventMessage = z.looseObject({
  type: z.literal("stream_event"),
  ...identity,
  event: ApiStreamEvent,
  parent_tool_use_id: z.string().nullable(),
  ttft_ms: z.number().nullish(),
  ...answered,
  // The rest is seen on 2.1.325, not published.
  api_message_id: z.string().nullish(),
  thinking_display: ThinkingDisplay.nullish(),
  /** On the `message_stop` of an interrupted stream. */
  abandoned_blocks: z
    .looseObject({ api_message_id: z.string().nullish(), from_block_index: z.number().nullish() })
    .nullish(),
})
export type StreamEventMessage = z.infer<typeof StreamEventMessage>
