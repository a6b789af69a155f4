// A program's view of tokens, context and limits.
import type * as Wire from "@signalbox/protocol"
import type { ApiUsage } from "./api-message.ts"
import type { ExtraUsage, SessionUsage } from "./message-parts.ts"
import type { Published, With } from "./published.ts"

export type ModelUsage = With<Published<Wire.ModelUsage>, { maxOutputTokens: number }>

/** Every count is there: what no cache was involved in is 0. */
export type NonNullableUsage = {
  [K in keyof ApiUsage]: K extends "fallback_credit" ? ApiUsage[K] : NonNullable<ApiUsage[K]>
}

interface Named {
  name: string
  tokens: number
}

export type SDKControlGetContextUsageResponse = With<
  Published<Wire.ControlReplyOf<"get_context_usage">>,
  {
    categories: ContextCategory[]
    rawMaxTokens: number
    gridRows: GridSquare[][]
    memoryFiles: { path: string; type: string; tokens: number }[]
    mcpTools: { name: string; serverName: string; tokens: number; isLoaded?: boolean }[]
    mcpInstructions?: { serverName: string; tokens: number }[]
    deferredBuiltinTools?: (Named & { isLoaded: boolean })[]
    systemTools?: Named[]
    systemPromptSections?: Named[]
    agents: { agentType: string; source: string; pluginId?: string; path?: string; tokens: number }[]
    slashCommands?: { totalCommands: number; includedCommands: number; tokens: number }
    skills?: { totalSkills: number; includedSkills: number; tokens: number; skillFrontmatter: SkillTokens[] }
    isAutoCompactEnabled: boolean
    messageBreakdown?: MessageBreakdown
    apiUsage: Record<ApiCount, number> | null
  }
>

type ApiCount = "input_tokens" | "output_tokens" | "cache_creation_input_tokens" | "cache_read_input_tokens"

interface ContextCategory extends Named {
  id?:
    | "system_prompt"
    | "system_tools"
    | "system_tools_deferred"
    | "mcp_tools"
    | "mcp_tools_deferred"
    | "mcp_instructions"
    | "custom_agents"
    | "memory_files"
    | "skills"
    | "messages"
    | "autocompact_buffer"
    | "compact_buffer"
    | "free_space"
  /** A name in the CLI's own palette. */
  color: string
  isDeferred?: boolean
  kind: "used" | "free" | "buffer" | "deferred"
}

interface GridSquare {
  color: string
  isFilled: boolean
  categoryName: string
  tokens: number
  percentage: number
  squareFullness: number
}

interface SkillTokens extends Named {
  source: string
  pluginName?: string
  pluginId?: string
  path?: string
}

type BreakdownCount =
  | `${"toolCall" | "toolResult" | "attachment" | "assistantMessage" | "userMessage"}Tokens`
  | `${"redirectedContext" | "unattributed"}Tokens`
type MessageBreakdown = Record<BreakdownCount, number> & {
  toolCallsByType: { name: string; callTokens: number; resultTokens: number }[]
  attachmentsByType: Named[]
}

export type SDKControlGetUsageResponse = With<
  Published<Wire.ControlReplyOf<"get_usage">>,
  { session: SessionUsage; rate_limits: RateLimits | null; behaviors: Record<"day" | "week", Habits> | null }
>

interface LimitWindow {
  utilization: number | null
  resets_at: string | null
}
type LimitName = "five_hour" | `seven_day${"" | "_oauth_apps" | "_opus" | "_sonnet"}`
type RateLimits = { [Name in LimitName]?: LimitWindow | null } & {
  model_scoped?: (LimitWindow & { display_name: string })[]
  extra_usage?: ExtraUsage | null
}

interface Share {
  name: string
  pct: number
}
type Habit =
  | "cache_miss"
  | "long_context"
  | "subagent_heavy"
  | "high_parallel"
  | "cron"
  | "max_effort"
  | "workflow"
  | "always_on_context"
  | "large_tool_results"
type Habits = Record<"agents" | "skills" | "plugins" | "mcp_servers", Share[]> & {
  request_count: number
  session_count: number
  behaviors: { key: Habit; pct: number; count: number }[]
  recommendations?: { key: string; pct: number; title: string; detail?: string }[]
  fix?: { keys: string[]; messages: string[] }
}
