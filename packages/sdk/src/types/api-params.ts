// Requests to a model, as the API names them: beside `api-blocks`, with what only a request has.
import type {
  BashOutcome,
  Caller,
  CitedPlace,
  CodeExecutionOutcome,
  EditorCreate,
  EditorFailure,
  EditorReplace,
  EditorView,
  PlainSource,
  ReplacedLines,
  ResultOf,
  ServerTool,
  ToolSearchFailure,
  ViewedLines,
  WebFetchFailure,
  WebSearchFailure,
} from "./api-blocks.ts"

/** A message of a conversation as the API takes it. */
export type ApiMessageParam =
  | { role: "user" | "assistant"; content: string | ApiBlockParam[] }
  | { role: "system"; content: string | TextParam[] }

type ApiBlockParam =
  | TextParam
  | ImageParam
  | DocumentParam
  | SearchResultParam
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | (Cached & { type: "tool_use"; id: string; name: string; input: unknown; caller?: Caller })
  | ToolResultParam
  | (Cached & { type: "server_tool_use"; id: string; name: ServerTool; input: unknown; caller?: Caller })
  | (Cached & ResultOf<"web_search_tool_result", WebSearchFailure | WebSearchHit[]> & { caller?: Caller })
  | (Cached & ResultOf<"web_fetch_tool_result", WebFetchFailure | WebFetchPage> & { caller?: Caller })
  | (Cached & ResultOf<"code_execution_tool_result", CodeExecutionOutcome>)
  | (Cached & ResultOf<"bash_code_execution_tool_result", BashOutcome>)
  | (Cached & ResultOf<"text_editor_code_execution_tool_result", EditorOutcome>)
  | (Cached & ResultOf<"tool_search_tool_result", ToolSearchOutcome>)
  | (Cached & { type: "container_upload"; file_id: string })

interface Cached {
  cache_control?: { type: "ephemeral"; ttl?: "5m" | "1h" } | null
}

interface TextParam extends Cached {
  type: "text"
  text: string
  citations?: CitedPlace[] | null
}

type Elsewhere = { type: "url"; url: string } | { type: "file"; file_id: string }
type ImageFormat = "image/jpeg" | "image/png" | "image/gif" | "image/webp"

interface ImageParam extends Cached {
  type: "image"
  source: { type: "base64"; media_type: ImageFormat; data: string } | Elsewhere
}

interface DocumentParam extends Cached {
  type: "document"
  source: PlainSource | { type: "content"; content: string | (TextParam | ImageParam)[] } | Elsewhere
  title?: string | null
  context?: string | null
  citations?: { enabled?: boolean } | null
}

interface SearchResultParam extends Cached {
  type: "search_result"
  source: string
  title: string
  content: TextParam[]
  citations?: { enabled?: boolean }
}

interface ToolReferenceParam extends Cached {
  type: "tool_reference"
  tool_name: string
}

interface BrowserStateParam extends Cached {
  type: "browser_state"
  tabs: { tab_id: string; title: string; url: string; active?: boolean }[]
}

interface ToolResultParam extends Cached {
  type: "tool_result"
  tool_use_id: string
  content?:
    | string
    | (TextParam | ImageParam | SearchResultParam | DocumentParam | ToolReferenceParam | BrowserStateParam)[]
  is_error?: boolean
}

interface WebSearchHit {
  type: "web_search_result"
  title: string
  url: string
  encrypted_content: string
  page_age?: string | null
}

interface WebFetchPage {
  type: "web_fetch_result"
  url: string
  content: DocumentParam
  retrieved_at?: string | null
}

type EditorOutcome =
  | (EditorFailure & { error_message?: string | null })
  | (EditorView & Partial<ViewedLines>)
  | EditorCreate
  | (EditorReplace & Partial<ReplacedLines>)

type ToolSearchOutcome =
  | (ToolSearchFailure & { error_message?: string | null })
  | { type: "tool_search_tool_search_result"; tool_references: ToolReferenceParam[] }
