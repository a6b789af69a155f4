// The API's message and the events of its stream, as a program gets them in `assistant` and `stream_event`.
import type { ApiCitation, ApiContentBlock, RefusalCategory } from "./api-blocks.ts"

export interface ApiMessage extends ApiEnding {
  id: string
  type: "message"
  role: "assistant"
  model: string
  content: ApiContentBlock[]
  usage: ApiUsage
  context_management: ContextManagement | null
  diagnostics: { cache_miss_reason: CacheMiss | null } | null
}

/** How a message ended; all null before it has. */
interface ApiEnding {
  stop_reason: ApiStopReason | null
  stop_sequence: string | null
  stop_details: RefusalDetails | null
  container: Container | null
}

type ApiStopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "compaction"
  | "refusal"
  | "model_context_window_exceeded"

interface RefusalDetails {
  type: "refusal"
  category: RefusalCategory | null
  explanation: string | null
  recommended_model: string | null
  fallback_credit_token: string | null
  fallback_has_prefill_claim: boolean | null
}

interface Container {
  id: string
  expires_at: string
  skills: { type: "anthropic" | "custom"; skill_id: string; version: string }[] | null
}

interface ContextManagement {
  applied_edits: (
    | { type: "clear_tool_uses_20250919"; cleared_input_tokens: number; cleared_tool_uses: number }
    | { type: "clear_thinking_20251015"; cleared_input_tokens: number; cleared_thinking_turns: number }
  )[]
}

type CacheMiss =
  | { type: "model_changed"; cache_missed_input_tokens: number }
  | { type: "system_changed"; cache_missed_input_tokens: number }
  | { type: "tools_changed"; cache_missed_input_tokens: number }
  | { type: "messages_changed"; cache_missed_input_tokens: number }
  | { type: "previous_message_not_found" }
  | { type: "unavailable" }

interface CacheCreation {
  ephemeral_5m_input_tokens: number
  ephemeral_1h_input_tokens: number
}

/** The counts that the end of a stream tells again, up to there. */
interface CumulativeUsage {
  output_tokens: number
  cache_creation_input_tokens: number | null
  cache_read_input_tokens: number | null
  output_tokens_details: { thinking_tokens: number } | null
  server_tool_use: { web_search_requests: number; web_fetch_requests: number } | null
  iterations: ApiIteration[] | null
  fallback_credit: { status: { type: "redeemed" } | CreditNotApplied } | null
}

/** Null: it was not involved. */
export interface ApiUsage extends CumulativeUsage {
  input_tokens: number
  cache_creation: CacheCreation | null
  inference_geo: string | null
  service_tier: "standard" | "priority" | "batch" | null
  speed: "standard" | "fast" | null
}

interface CreditNotApplied {
  type: "not_applied"
  reason:
    | `continuation_${"excluded" | "only"}`
    | `wrong_${"organization" | "platform" | "workspace"}`
    | `${"reprice" | "temporarily"}_unavailable`
    | "body_mismatch"
    | "expired"
    | "invalid_target_model"
    | "not_enabled"
    | "variant_fields_present"
}

interface Iteration {
  input_tokens: number
  output_tokens: number
  cache_creation: CacheCreation | null
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
}
type ApiIteration =
  | (Iteration & { type: "message"; model: string | null })
  | (Iteration & { type: "compaction" })
  | (Iteration & { type: "advisor_message"; model: string })
  | (Iteration & { type: "fallback_message"; model: string })

export type ApiStreamEvent =
  | { type: "message_start"; message: ApiMessage }
  | { type: "content_block_start"; index: number; content_block: ApiContentBlock }
  | { type: "content_block_delta"; index: number; delta: ApiDelta }
  | { type: "content_block_stop"; index: number }
  | {
      type: "message_delta"
      delta: ApiEnding
      usage: CumulativeUsage & { input_tokens: number | null }
      context_management: ContextManagement | null
    }
  | { type: "message_stop" }

type ApiDelta =
  | { type: "text_delta"; text: string }
  | { type: "input_json_delta"; partial_json: string }
  | { type: "citations_delta"; citation: ApiCitation }
  | { type: "thinking_delta"; thinking: string; estimated_tokens: number | null }
  | { type: "signature_delta"; signature: string }
  | { type: "compaction_delta"; content: string | null; encrypted_content: string | null }
