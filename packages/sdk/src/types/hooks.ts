import type * as Wire from "@signalbox/protocol"
import type { Published } from "./published.ts"

export type HookEvent = Wire.HookEvent
export type BaseHookInput = Published<Wire.BaseHookInput>

type InputOf<E extends HookEvent> = Published<Wire.HookInputOf<E>>

/** The official package leaves what a tool takes and gives open, so that a program may read it as what it knows it is. */
type WithTool<T> = Omit<T, "tool_input" | "tool_response"> &
  ("tool_input" extends keyof T ? { tool_input: unknown } : unknown) &
  ("tool_response" extends keyof T ? { tool_response: unknown } : unknown)

export type PreToolUseHookInput = WithTool<InputOf<"PreToolUse">>
export type PostToolUseHookInput = WithTool<InputOf<"PostToolUse">>
export type PostToolUseFailureHookInput = WithTool<InputOf<"PostToolUseFailure">>
export type PostToolBatchHookInput = InputOf<"PostToolBatch">
export type NotificationHookInput = InputOf<"Notification">
export type UserPromptSubmitHookInput = InputOf<"UserPromptSubmit">
export type UserPromptExpansionHookInput = InputOf<"UserPromptExpansion">
export type SessionStartHookInput = InputOf<"SessionStart">
export type SessionEndHookInput = InputOf<"SessionEnd">
export type StopHookInput = InputOf<"Stop">
export type StopFailureHookInput = InputOf<"StopFailure">
export type SubagentStartHookInput = InputOf<"SubagentStart">
export type SubagentStopHookInput = InputOf<"SubagentStop">
export type PreCompactHookInput = InputOf<"PreCompact">
export type PostCompactHookInput = InputOf<"PostCompact">
export type PreModelSwitchHookInput = InputOf<"PreModelSwitch">
export type PostModelSwitchHookInput = InputOf<"PostModelSwitch">
export type PermissionRequestHookInput = WithTool<InputOf<"PermissionRequest">>
export type PermissionDeniedHookInput = WithTool<InputOf<"PermissionDenied">>
export type SetupHookInput = InputOf<"Setup">
export type TeammateIdleHookInput = InputOf<"TeammateIdle">
export type TaskCreatedHookInput = InputOf<"TaskCreated">
export type TaskCompletedHookInput = InputOf<"TaskCompleted">
export type ElicitationHookInput = InputOf<"Elicitation">
export type ElicitationResultHookInput = InputOf<"ElicitationResult">
export type ConfigChangeHookInput = InputOf<"ConfigChange">
export type WorktreeCreateHookInput = InputOf<"WorktreeCreate">
export type WorktreeRemoveHookInput = InputOf<"WorktreeRemove">
export type InstructionsLoadedHookInput = InputOf<"InstructionsLoaded">
export type CwdChangedHookInput = InputOf<"CwdChanged">
export type FileChangedHookInput = InputOf<"FileChanged">
export type DirectoryAddedHookInput = InputOf<"DirectoryAdded">
export type MessageDisplayHookInput = InputOf<"MessageDisplay">

export type HookInput =
  | PreToolUseHookInput
  | PostToolUseHookInput
  | PostToolUseFailureHookInput
  | PostToolBatchHookInput
  | NotificationHookInput
  | UserPromptSubmitHookInput
  | UserPromptExpansionHookInput
  | SessionStartHookInput
  | SessionEndHookInput
  | StopHookInput
  | StopFailureHookInput
  | SubagentStartHookInput
  | SubagentStopHookInput
  | PreCompactHookInput
  | PostCompactHookInput
  | PreModelSwitchHookInput
  | PostModelSwitchHookInput
  | PermissionRequestHookInput
  | PermissionDeniedHookInput
  | SetupHookInput
  | TeammateIdleHookInput
  | TaskCreatedHookInput
  | TaskCompletedHookInput
  | ElicitationHookInput
  | ElicitationResultHookInput
  | ConfigChangeHookInput
  | WorktreeCreateHookInput
  | WorktreeRemoveHookInput
  | InstructionsLoadedHookInput
  | CwdChangedHookInput
  | FileChangedHookInput
  | DirectoryAddedHookInput
  | MessageDisplayHookInput

type OutputOf<E extends WithOutput> = Published<Wire.HookSpecificOutputOf<E>>
type WithOutput = Exclude<
  HookEvent,
  | "SessionEnd"
  | "StopFailure"
  | "PreCompact"
  | "PostCompact"
  | "TeammateIdle"
  | "TaskCreated"
  | "TaskCompleted"
  | "ConfigChange"
  | "WorktreeRemove"
  | "InstructionsLoaded"
  | "DirectoryAdded"
>

export type HookSpecificOutput = { [E in WithOutput]: OutputOf<E> }[WithOutput]
export type PreToolUseHookSpecificOutput = OutputOf<"PreToolUse">
export type PostToolUseHookSpecificOutput = OutputOf<"PostToolUse">
export type PermissionRequestHookSpecificOutput = OutputOf<"PermissionRequest">
export type UserPromptSubmitHookSpecificOutput = OutputOf<"UserPromptSubmit">
export type SessionStartHookSpecificOutput = OutputOf<"SessionStart">
export type CwdChangedHookSpecificOutput = OutputOf<"CwdChanged">
export type ElicitationHookSpecificOutput = OutputOf<"Elicitation">
export type ElicitationResultHookSpecificOutput = OutputOf<"ElicitationResult">
export type FileChangedHookSpecificOutput = OutputOf<"FileChanged">
export type MessageDisplayHookSpecificOutput = OutputOf<"MessageDisplay">
export type NotificationHookSpecificOutput = OutputOf<"Notification">
export type PermissionDeniedHookSpecificOutput = OutputOf<"PermissionDenied">
export type PostModelSwitchHookSpecificOutput = OutputOf<"PostModelSwitch">
export type PostToolBatchHookSpecificOutput = OutputOf<"PostToolBatch">
export type PostToolUseFailureHookSpecificOutput = OutputOf<"PostToolUseFailure">
export type PreModelSwitchHookSpecificOutput = OutputOf<"PreModelSwitch">
export type SetupHookSpecificOutput = OutputOf<"Setup">
export type StopHookSpecificOutput = OutputOf<"Stop">
export type SubagentStartHookSpecificOutput = OutputOf<"SubagentStart">
export type SubagentStopHookSpecificOutput = OutputOf<"SubagentStop">
export type UserPromptExpansionHookSpecificOutput = OutputOf<"UserPromptExpansion">
export type WorktreeCreateHookSpecificOutput = OutputOf<"WorktreeCreate">

/** "Do not wait for me": what the hook finds later cannot be delivered. */
export interface AsyncHookJSONOutput {
  async: true
  asyncTimeout?: number | undefined
}

export interface SyncHookJSONOutput {
  continue?: boolean | undefined
  suppressOutput?: boolean | undefined
  stopReason?: string | undefined
  decision?: "approve" | "block" | undefined
  systemMessage?: string | undefined
  reason?: string | undefined
  terminalSequence?: string | undefined
  hookSpecificOutput?: HookSpecificOutput | undefined
}

export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput

export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>

export interface HookCallbackMatcher {
  matcher?: string | undefined
  hooks: HookCallback[]
  /** In seconds. */
  timeout?: number | undefined
  /** `block` makes a hook that fails stop what it watches; the agent has to support it. */
  onFailure?: "continue" | "block" | undefined
}
