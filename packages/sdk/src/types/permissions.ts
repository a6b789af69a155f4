import type * as Wire from "@signalbox/protocol"
import type { Published, With } from "./published.ts"

/** The modes of CLI 2.1.325. */
export type PermissionMode = Exclude<Wire.KnownPermissionMode, "delegate">
/** The modes that some CLI has: `delegate` is known to 2.0.77 and 2.1.37, and refused by newer ones. */
export type AnyPermissionMode = PermissionMode | "delegate"
export type PermissionBehavior = "allow" | "deny" | "ask"
export type PermissionUpdateDestination = "userSettings" | "projectSettings" | "localSettings" | "session" | "cliArg"
export type PermissionRuleValue = Published<Wire.PermissionRule>
export type PermissionDecisionClassification = "user_temporary" | "user_permanent" | "user_reject"

export type PermissionUpdate = Published<Wire.RulesUpdate | Wire.ModeUpdate | Wire.DirectoriesUpdate>
type AnyModeUpdate = With<Published<Wire.ModeUpdate>, { mode: AnyPermissionMode }>

export type PermissionResult =
  | {
      behavior: "allow"
      /** The tool's own input if it is left out. */
      updatedInput?: Record<string, unknown> | undefined
      updatedPermissions?: (PermissionUpdate | AnyModeUpdate)[] | undefined
      toolUseID?: string | undefined
      decisionClassification?: PermissionDecisionClassification | undefined
    }
  | {
      behavior: "deny"
      message: string
      interrupt?: boolean | undefined
      toolUseID?: string | undefined
      decisionClassification?: PermissionDecisionClassification | undefined
    }

/** Decides whether a tool may run. `null` means that somebody else answers. */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: CanUseToolOptions,
) => Promise<PermissionResult | null>

export interface CanUseToolOptions {
  /** Aborts when the agent no longer wants an answer, and when the query ends. */
  signal: AbortSignal
  suggestions?: PermissionUpdate[]
  blockedPath?: string
  mcpServer?: { name: string; source: string }
  decisionReason?: string
  decisionReasonType?: string
  title?: string
  displayName?: string
  description?: string
  defaultToNo?: boolean
  suppressAlwaysAllowRule?: boolean
  toolUseID: string
  agentID?: string
  requestId: string
  requiresUserInteraction?: boolean
  serverPolicyAskOnly?: boolean
  matchedAskRule?: { source: string; toolName: string; ruleContent?: string }
}

/** An MCP server's request to the user, through the agent. */
export interface ElicitationRequest {
  description?: string
  displayName?: string
  elicitationId?: string
  message: string
  mode?: "form" | "url"
  requestedSchema?: Record<string, unknown>
  serverName: string
  title?: string
  url?: string
}

export interface ElicitationResult {
  action: "accept" | "decline" | "cancel"
  content?: Record<string, string | number | boolean | string[]> | undefined
  [field: string]: unknown
}

/** `null` means that somebody else answers. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<ElicitationResult | null>

export interface UserDialogRequest {
  dialogKind: string
  payload: Record<string, unknown>
  toolUseID?: string
}

export type UserDialogResult = { behavior: "completed"; result: unknown } | { behavior: "cancelled" }

/** `null` means that somebody else answers. */
export type OnUserDialog = (
  request: UserDialogRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<UserDialogResult | null>
