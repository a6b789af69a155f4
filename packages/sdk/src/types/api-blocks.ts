/**
 * Answers of a model, as the API names them. Programs hand these to code that is typed by the API's own client, so
 * each block fits that client's type and is fit by it; nothing of the client is needed for that. What is left out is
 * optional there.
 */
export type ApiContentBlock =
  | ApiTextBlock
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | ApiToolUse<"tool_use">
  | {
      type: "server_tool_use"
      id: string
      name: ServerTool | "advisor"
      input: Record<string, unknown>
      caller?: Caller
    }
  | (ApiToolUse<"mcp_tool_use"> & { server_name: string })
  | (ResultOf<"web_search_tool_result", WebSearchFailure | WebSearchHit[]> & { caller?: Caller })
  | (ResultOf<"web_fetch_tool_result", WebFetchFailure | WebFetchPage> & { caller?: Caller })
  | ResultOf<"advisor_tool_result", AdvisorOutcome>
  | ResultOf<"code_execution_tool_result", CodeExecutionOutcome>
  | ResultOf<"bash_code_execution_tool_result", BashOutcome>
  | ResultOf<"text_editor_code_execution_tool_result", EditorOutcome>
  | ResultOf<"tool_search_tool_result", ToolSearchOutcome>
  | (ResultOf<"mcp_tool_result", string | ApiTextBlock[]> & { is_error: boolean })
  | { type: "container_upload"; file_id: string }
  | { type: "compaction"; content: string | null; encrypted_content: string | null }
  | { type: "fallback"; from: { model: string }; to: { model: string }; trigger: RefusalTrigger }
  | { type: "mcp_tool_listing"; mcp_server_name: string; tools: ListedTool[] }

interface ApiTextBlock {
  type: "text"
  text: string
  citations: ApiCitation[] | null
}

interface ApiToolUse<Type extends string> {
  type: Type
  id: string
  name: string
  /** The API leaves it open, so that a program may read it as what it knows the tool takes. */
  input: unknown
}

export interface ResultOf<Type extends string, Content> {
  type: Type
  tool_use_id: string
  content: Content
}

interface InDocument {
  cited_text: string
  document_index: number
  document_title: string | null
}
type InFile<Place> = Place extends InDocument ? Place & { file_id: string | null } : Place
export type ApiCitation = InFile<CitedPlace>

/** Where a text was found. In an answer, places in a document also name the file. */
export type CitedPlace =
  | (InDocument & { type: "char_location"; start_char_index: number; end_char_index: number })
  | (InDocument & { type: "page_location"; start_page_number: number; end_page_number: number })
  | (InDocument & { type: "content_block_location"; start_block_index: number; end_block_index: number })
  | {
      type: "web_search_result_location"
      cited_text: string
      encrypted_index: string
      title: string | null
      url: string
    }
  | {
      type: "search_result_location"
      cited_text: string
      search_result_index: number
      source: string
      title: string | null
      start_block_index: number
      end_block_index: number
    }

export type ServerTool =
  | "web_search"
  | "web_fetch"
  | "code_execution"
  | "bash_code_execution"
  | "text_editor_code_execution"
  | "tool_search_tool_regex"
  | "tool_search_tool_bm25"

export type Caller =
  | { type: "direct" }
  | { type: "code_execution_20250825"; tool_id: string }
  | { type: "code_execution_20260120"; tool_id: string }

interface Failure<Type extends string, Code extends string> {
  type: Type
  error_code: Code
}
type AnyTool = "invalid_tool_input" | "unavailable" | "too_many_requests"
type Runs = AnyTool | "execution_time_exceeded"

export type WebSearchFailure = Failure<
  "web_search_tool_result_error",
  AnyTool | "max_uses_exceeded" | "query_too_long" | "request_too_large"
>
interface WebSearchHit {
  type: "web_search_result"
  title: string
  url: string
  encrypted_content: string
  page_age: string | null
}

export type WebFetchFailure = Failure<
  "web_fetch_tool_result_error",
  | AnyTool
  | "max_uses_exceeded"
  | "url_too_long"
  | "url_not_allowed"
  | "url_not_in_prior_context"
  | "url_not_accessible"
  | "unsupported_content_type"
  | "content_too_large"
>
interface WebFetchPage {
  type: "web_fetch_result"
  url: string
  retrieved_at: string | null
  content: { type: "document"; title: string | null; citations: { enabled: boolean } | null; source: PlainSource }
}
export type PlainSource =
  | { type: "base64"; media_type: "application/pdf"; data: string }
  | { type: "text"; media_type: "text/plain"; data: string }

type AdvisorOutcome =
  | Failure<
      "advisor_tool_result_error",
      Exclude<Runs, "invalid_tool_input"> | "max_uses_exceeded" | "prompt_too_long" | "overloaded" | "model_not_found"
    >
  | { type: "advisor_result"; text: string; stop_reason: string | null }
  | { type: "advisor_redacted_result"; encrypted_content: string; stop_reason: string | null }

interface Ran<Type extends string, Output extends string> {
  type: Type
  content: { type: Output; file_id: string }[]
  return_code: number
  stderr: string
}
export type CodeExecutionOutcome =
  | Failure<"code_execution_tool_result_error", Runs>
  | (Ran<"code_execution_result", "code_execution_output"> & { stdout: string })
  | (Ran<"encrypted_code_execution_result", "code_execution_output"> & { encrypted_stdout: string })
export type BashOutcome =
  | Failure<"bash_code_execution_tool_result_error", Runs | "output_file_too_large">
  | (Ran<"bash_code_execution_result", "bash_code_execution_output"> & { stdout: string })

export type EditorFailure = Failure<"text_editor_code_execution_tool_result_error", Runs | "file_not_found">
export interface EditorView {
  type: "text_editor_code_execution_view_result"
  content: string
  file_type: "text" | "image" | "pdf"
}
export type EditorCreate = { type: "text_editor_code_execution_create_result"; is_file_update: boolean }
export type EditorReplace = { type: "text_editor_code_execution_str_replace_result" }
export type ViewedLines = Record<"num_lines" | "start_line" | "total_lines", number | null>
export type ReplacedLines = Record<"new_lines" | "new_start" | "old_lines" | "old_start", number | null> & {
  lines: string[] | null
}
type EditorOutcome =
  | (EditorFailure & { error_message: string | null })
  | (EditorView & ViewedLines)
  | EditorCreate
  | (EditorReplace & ReplacedLines)

export type ToolSearchFailure = Failure<"tool_search_tool_result_error", Runs>
type ToolSearchOutcome =
  | (ToolSearchFailure & { error_message: string | null })
  | { type: "tool_search_tool_search_result"; tool_references: { type: "tool_reference"; tool_name: string }[] }

export type RefusalCategory = "cyber" | "bio" | "frontier_llm" | "reasoning_extraction" | "general_harms"
interface RefusalTrigger {
  type: "refusal"
  category: RefusalCategory | null
}

interface ListedTool {
  name: string
  input_schema: Record<string, unknown>
  description?: string
}
