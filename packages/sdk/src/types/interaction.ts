/** What an MCP server asks of the user through the agent. */
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
