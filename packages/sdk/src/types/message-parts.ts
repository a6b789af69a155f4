// Parts of messages, where a program has a name for them.
import type { ModelUsage } from "./usage.ts"

/** Who a message is from, or what brought it about. */
export type SDKMessageOrigin =
  | { kind: "human" | "coordinator" | "unclassified" | "auto-continuation" | "observer-activity" }
  | { kind: "channel"; server: string }
  | PeerOrigin
  | { kind: "task-notification"; subkind?: TaskNotificationKind; fireReason?: string; runId?: string }
  | { kind: "observer"; from: string; senderTaskId: string }

type TaskNotificationKind = "scheduled-trigger" | "peer-send-message" | "projects-relay" | "session-inbox"
interface PeerOrigin {
  kind: "peer"
  from: string
  fromMode?: "bypass" | "prompting"
  name?: string
  fromSession?: string
  senderTaskId?: string
  body?: string
  verifiedPeerPid?: number
}

/** The contents of the model's context, as an `assistant` message reports them. */
export interface SDKContextUsage {
  agents: { agent_type: string; source: string; tokens: number }[]
  categories: SDKContextUsageCategory[]
  mcp_tools: { name: string; server_name: string; tokens: number }[]
  memory_files: { path: string; type: string; tokens: number }[]
  model: string
  over_limit?: { tokens_over: number; kind: "hard_limit" | "compaction_window" }
  percentage: number
  raw_max_tokens: number
  skills?: { name: string; source: string; plugin_name?: string; tokens: number }[]
  total_tokens: number
}

export interface SDKContextUsageCategory {
  name: string
  tokens: number
  kind: "used" | "free" | "buffer" | "deferred"
}

/** Totals of the process so far. */
export interface SessionUsage {
  total_cost_usd: number
  total_api_duration_ms: number
  total_duration_ms: number
  total_lines_added: number
  total_lines_removed: number
  model_usage: Record<string, ModelUsage>
}

export interface ExtraUsage {
  is_enabled: boolean
  monthly_limit: number | null
  used_credits: number | null
  utilization: number | null
  currency?: string | null
}

export interface SDKUsageReport {
  session: SessionUsage
  rate_limits: { limits: ReportedLimit[] | null; extra_usage?: ExtraUsage | null } | null
}

type Scoped = { display_name: string } | null
interface ReportedLimit {
  kind: string
  group: string
  percent: number
  resets_at: string | null
  scope?: { model?: Scoped; surface?: Scoped } | null
  severity: string
  is_active: boolean
}

/** A call that waits for the program to run it. */
export interface SDKDeferredToolUse {
  id: string
  name: string
  input: Record<string, unknown>
}

export interface SDKMcpResourceLink {
  annotations?: Record<string, unknown>
  description?: string
  mimeType?: string
  name: string
  size?: number
  title?: string
  uri: string
}

export type FastModeState = "off" | "cooldown" | "on"
export type FastModeDisabledReason =
  | "free"
  | "preference"
  | "extra_usage_disabled"
  | "network_error"
  | "unknown"
  | "not_first_party"
  | "disabled_by_env"
  | "model_not_allowed"
  | "sdk_opt_in_required"
  | "pending"

export interface FastMode {
  fast_mode_state?: FastModeState
  fast_mode_disabled_reason?: FastModeDisabledReason
}

/** Why there was no session at all. */
export type SDKStartupFailureReason =
  | `org_pin_${"api_key_conflict" | "mismatch"}`
  | `org_config_${"required_unavailable" | "refused"}`
  | `managed_settings_${"invalid" | "not_delivered"}`
  | `gateway_${"signin_required" | "access_denied"}`
  | `worktree_${"resume_refused" | "unverified"}`
  | "org_verify_failed"
  | "provider_not_allowed"
  | "remote_settings_required_unavailable"
  | "proxy_invalid"
  | "temp_dir_unusable"
  | "cwd_unavailable"
  | "shell_tool_missing"
  | "session_held_by_background"
  | "cli_version_too_old"
  | "bypass_root"
  | "sandbox_required_unavailable"
  | "initialize_not_first"
  | "config_file_invalid"

export interface InvalidConfigFile {
  path: string
  is_global: boolean
  backup_searched: boolean
  backup_path?: string
}

export interface PluginError {
  plugin: string
  type: string
  message: string
  path?: string
  managed_lock?: { plugin_enabled: boolean; name: string; marketplace?: string }
}

export interface SubagentRetry {
  agent_id: string
  attempt: number
  max_retries: number
  retry_delay_ms: number
  error_status: number | null
  error_category: string
}
