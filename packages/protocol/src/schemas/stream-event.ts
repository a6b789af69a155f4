import { z } from "zod"
import { ApiMessage, ContentBlock, ending, ThinkingDisplay, usageDetails } from "./content.ts"
import { answered, identity } from "./identity.ts"
import { openUnion } from "./open-union.ts"

export const TextDelta = z.looseObject({ type: z.literal("text_delta"), text: z.string() })
export type TextDelta = z.infer<typeof TextDelta>

export const InputJsonDelta = z.looseObject({ type: z.literal("input_json_delta"), partial_json: z.string() })
export type InputJsonDelta = z.infer<typeof InputJsonDelta>

export const ThinkingDelta = z.looseObject({ type: z.literal("thinking_delta"), thinking: z.string() })
export type ThinkingDelta = z.infer<typeof ThinkingDelta>

export const SignatureDelta = z.looseObject({ type: z.literal("signature_delta"), signature: z.string() })
export type SignatureDelta = z.infer<typeof SignatureDelta>

export const CitationsDelta = z.looseObject({ type: z.literal("citations_delta"), citation: z.unknown().optional() })
export type CitationsDelta = z.infer<typeof CitationsDelta>

export const ContentDelta = openUnion("type", [
  TextDelta,
  InputJsonDelta,
  ThinkingDelta,
  SignatureDelta,
  CitationsDelta,
])
export type ContentDelta = z.infer<typeof ContentDelta>

export const MessageStartEvent = z.looseObject({ type: z.literal("message_start"), message: ApiMessage })
export type MessageStartEvent = z.infer<typeof MessageStartEvent>

export const ContentBlockStartEvent = z.looseObject({
  type: z.literal("content_block_start"),
  index: z.number(),
  content_block: ContentBlock,
})
export type ContentBlockStartEvent = z.infer<typeof ContentBlockStartEvent>

export const ContentBlockDeltaEvent = z.looseObject({
  type: z.literal("content_block_delta"),
  index: z.number(),
  delta: ContentDelta,
})
export type ContentBlockDeltaEvent = z.infer<typeof ContentBlockDeltaEvent>

export const ContentBlockStopEvent = z.looseObject({ type: z.literal("content_block_stop"), index: z.number() })
export type ContentBlockStopEvent = z.infer<typeof ContentBlockStopEvent>

export const MessageDeltaEvent = z.looseObject({
  type: z.literal("message_delta"),
  delta: z.looseObject(ending),
  usage: z
    .looseObject({ output_tokens: z.number().nullish(), input_tokens: z.number().nullish(), ...usageDetails })
    .nullish(),
  context_management: z.unknown().optional(),
})
export type MessageDeltaEvent = z.infer<typeof MessageDeltaEvent>

export const MessageStopEvent = z.looseObject({ type: z.literal("message_stop") })
export type MessageStopEvent = z.infer<typeof MessageStopEvent>

export const PingEvent = z.looseObject({ type: z.literal("ping") })
export type PingEvent = z.infer<typeof PingEvent>

export const ErrorEvent = z.looseObject({
  type: z.literal("error"),
  error: z.looseObject({ type: z.string(), message: z.string() }),
})
export type ErrorEvent = z.infer<typeof ErrorEvent>

/** An event of the API's stream, passed on as it came. */
export const ApiStreamEvent = openUnion("type", [
  MessageStartEvent,
  ContentBlockStartEvent,
  ContentBlockDeltaEvent,
  ContentBlockStopEvent,
  MessageDeltaEvent,
  MessageStopEvent,
  PingEvent,
  ErrorEvent,
])
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
