import { z } from "zod"
import { controlRequest, openEnum } from "./parts.ts"
import { ModelUsage } from "./result.ts"

/** Requests of 2.1.325 that read or change the session around the conversation: usage, files, settings, rules. */

export const RenameSessionRequest = controlRequest("rename_session", {
  title: z.string(),
  source: openEnum(["remote", "host"]).optional(),
  session_id: z.string().optional(),
})
export type RenameSessionRequest = z.infer<typeof RenameSessionRequest>

export const SetColorRequest = controlRequest("set_color", { color: z.string().nullish() })
export type SetColorRequest = z.infer<typeof SetColorRequest>

export const GetContextUsageRequest = controlRequest("get_context_usage", {
  detail: openEnum(["summary", "full"]).optional(),
})
export type GetContextUsageRequest = z.infer<typeof GetContextUsageRequest>

/** With `detail: "summary"` the long lists may be missing. */
export const GetContextUsageReply = z.looseObject({
  categories: z.array(
    z.looseObject({
      id: z.string().nullish(),
      kind: openEnum(["used", "free", "buffer", "deferred"]).nullish(),
      name: z.string().optional(),
      tokens: z.number().optional(),
      /** A name in the CLI's own palette. */
      color: z.string().nullish(),
    }),
  ),
  totalTokens: z.number(),
  maxTokens: z.number(),
  rawMaxTokens: z.number().nullish(),
  percentage: z.number(),
  gridRows: z.array(z.array(z.unknown())).nullish(),
  model: z.string(),
  memoryFiles: z.array(z.unknown()).nullish(),
  mcpTools: z.array(z.unknown()).nullish(),
  mcpInstructions: z.array(z.unknown()).nullish(),
  agents: z.array(z.unknown()).nullish(),
  skills: z.unknown().optional(),
  slashCommands: z.unknown().optional(),
  autoCompactThreshold: z.number().nullish(),
  isAutoCompactEnabled: z.boolean().nullish(),
  autocompactSource: z.string().nullish(),
  messageBreakdown: z.unknown().optional(),
  apiUsage: z.unknown().optional(),
})
export type GetContextUsageReply = z.infer<typeof GetContextUsageReply>

export const GetSessionCostRequest = controlRequest("get_session_cost", {})
export type GetSessionCostRequest = z.infer<typeof GetSessionCostRequest>
export const GetSessionCostReply = z.looseObject({ text: z.string() })
export type GetSessionCostReply = z.infer<typeof GetSessionCostReply>

export const GetUsageRequest = controlRequest("get_usage", { skip_behaviors: z.boolean().optional() })
export type GetUsageRequest = z.infer<typeof GetUsageRequest>
export const GetUsageReply = z.looseObject({
  session: z.looseObject({
    total_cost_usd: z.number().nullish(),
    total_api_duration_ms: z.number().nullish(),
    total_duration_ms: z.number().nullish(),
    total_lines_added: z.number().nullish(),
    total_lines_removed: z.number().nullish(),
    model_usage: z.record(z.string(), ModelUsage).nullish(),
  }),
  subscription_type: z.string().nullable(),
  rate_limits_available: z.boolean(),
  rate_limits: z.unknown().optional(),
  behaviors: z.unknown().optional(),
})
export type GetUsageReply = z.infer<typeof GetUsageReply>

export const GetBinaryVersionRequest = controlRequest("get_binary_version", {})
export type GetBinaryVersionRequest = z.infer<typeof GetBinaryVersionRequest>
export const GetBinaryVersionReply = z.looseObject({ version: z.string(), buildTime: z.string().nullish() })
export type GetBinaryVersionReply = z.infer<typeof GetBinaryVersionReply>

export const FileSuggestionsRequest = controlRequest("file_suggestions", { query: z.string() })
export type FileSuggestionsRequest = z.infer<typeof FileSuggestionsRequest>
export const FileSuggestionsReply = z.looseObject({ suggestions: z.array(z.unknown()), cwd: z.string().optional() })
export type FileSuggestionsReply = z.infer<typeof FileSuggestionsReply>

export const ReadFileRequest = controlRequest("read_file", {
  path: z.string(),
  max_bytes: z.number().optional(),
  encoding: z.string().optional(),
})
export type ReadFileRequest = z.infer<typeof ReadFileRequest>
export const ReadFileReply = z.looseObject({
  contents: z.string(),
  absPath: z.string(),
  truncated: z.boolean().nullish(),
  encoding: z.string().nullish(),
  lossy: z.boolean().nullish(),
  requested_path: z.string().nullish(),
})
export type ReadFileReply = z.infer<typeof ReadFileReply>

export const SeedReadStateRequest = controlRequest("seed_read_state", { path: z.string(), mtime: z.number() })
export type SeedReadStateRequest = z.infer<typeof SeedReadStateRequest>

export const RegisterRepoRootRequest = controlRequest("register_repo_root", {
  directory: z.string(),
  reload_claude_md: z.boolean().optional(),
  reload_plugins: z.boolean().optional(),
  reload_skills: z.boolean().optional(),
})
export type RegisterRepoRootRequest = z.infer<typeof RegisterRepoRootRequest>

export const SetHasSubscribersRequest = controlRequest("set_has_subscribers", {
  has_subscribers: z.boolean().nullable(),
})
export type SetHasSubscribersRequest = z.infer<typeof SetHasSubscribersRequest>

const Settings = z.record(z.string(), z.unknown())

export const ApplyFlagSettingsRequest = controlRequest("apply_flag_settings", { settings: Settings })
export type ApplyFlagSettingsRequest = z.infer<typeof ApplyFlagSettingsRequest>

export const UpdateSettingsRequest = controlRequest("update_settings", {
  source: openEnum(["localSettings", "userSettings"]),
  settings: Settings,
})
export type UpdateSettingsRequest = z.infer<typeof UpdateSettingsRequest>

export const GetSettingsRequest = controlRequest("get_settings", {})
export type GetSettingsRequest = z.infer<typeof GetSettingsRequest>
export const GetSettingsReply = z.looseObject({
  effective: Settings,
  sources: z.array(z.unknown()),
  applied: z
    .looseObject({
      model: z.string().nullish(),
      effort: z.unknown().optional(),
      // The rest is seen on 2.1.325, not published.
      advisor: z.unknown().optional(),
      ultracode: z.boolean().nullish(),
      ultracodeRequested: z.boolean().nullish(),
      ultracodeAvailable: z.boolean().nullish(),
      ultrathinkAvailable: z.boolean().nullish(),
      outsideFileToolReadsBlocked: z.boolean().nullish(),
      outsideFileToolWritesBlocked: z.boolean().nullish(),
      outsideBlocksCountLaunchFoldersOnly: z.boolean().nullish(),
      launchEnvLeftOwnFilesInPlace: z.boolean().nullish(),
    })
    .nullish(),
})
export type GetSettingsReply = z.infer<typeof GetSettingsReply>

export const GetHooksListingRequest = controlRequest("get_hooks_listing", {})
export type GetHooksListingRequest = z.infer<typeof GetHooksListingRequest>
export const GetHooksListingReply = z.looseObject({
  events: z.array(z.unknown()),
  hooks: z.array(z.unknown()),
  eventCatalog: z.array(z.unknown()),
  policy: z.looseObject({
    disabledByPolicy: z.boolean().nullish(),
    managedOnly: z.boolean().nullish(),
    pluginOnly: z.boolean().nullish(),
    allDisabled: z.boolean().nullish(),
    policyHookCount: z.number().nullish(),
  }),
  safeMode: z.unknown().optional(),
  bareMode: z.unknown().optional(),
  errors: z.unknown().optional(),
})
export type GetHooksListingReply = z.infer<typeof GetHooksListingReply>

export const ListPermissionRulesRequest = controlRequest("list_permission_rules", {})
export type ListPermissionRulesRequest = z.infer<typeof ListPermissionRulesRequest>
export const ListPermissionRulesReply = z.looseObject({
  state: z.looseObject({
    rules: z.array(z.unknown()),
    workspaceDirectories: z.array(z.unknown()),
    originalCwd: z.string(),
    managedOnly: z.boolean(),
    errors: z.unknown().optional(),
    withheld: z.unknown().optional(),
  }),
})
export type ListPermissionRulesReply = z.infer<typeof ListPermissionRulesReply>

/**
 * Requests that 2.1.325 handles without publishing them. Reachable, never relied on: fields are declared only where
 * they were observed, everything else passes as it is.
 */

export const EndSessionRequest = controlRequest("end_session", {})
export type EndSessionRequest = z.infer<typeof EndSessionRequest>

export const SetCwdRequest = controlRequest("set_cwd", { path: z.string() })
export type SetCwdRequest = z.infer<typeof SetCwdRequest>
export const SetCwdReply = z.looseObject({
  status: z.string().optional(),
  cwd: z.string().optional(),
  changed: z.boolean().optional(),
})
export type SetCwdReply = z.infer<typeof SetCwdReply>

export const GenerateSessionTitleRequest = controlRequest("generate_session_title", {})
export type GenerateSessionTitleRequest = z.infer<typeof GenerateSessionTitleRequest>

export const SideQuestionRequest = controlRequest("side_question", {})
export type SideQuestionRequest = z.infer<typeof SideQuestionRequest>

export const GetPlanRequest = controlRequest("get_plan", {})
export type GetPlanRequest = z.infer<typeof GetPlanRequest>
export const GetPlanReply = z.looseObject({
  exists: z.boolean().optional(),
  content: z.string().nullish(),
  path: z.string().nullish(),
})
export type GetPlanReply = z.infer<typeof GetPlanReply>

export const GetStatusRequest = controlRequest("get_status", {})
export type GetStatusRequest = z.infer<typeof GetStatusRequest>
/** Written for a person: titles, labels and values are prose. */
export const GetStatusReply = z
  .looseObject({
    sections: z
      .array(
        z.looseObject({
          title: z.string().nullish(),
          rows: z.array(z.looseObject({ label: z.string().nullish(), value: z.string().nullish() })).nullish(),
        }),
      )
      .nullish(),
  })
  .nullish()
export type GetStatusReply = z.infer<typeof GetStatusReply>

export const ExportConversationRequest = controlRequest("export_conversation", {})
export type ExportConversationRequest = z.infer<typeof ExportConversationRequest>

export const ForkConversationRequest = controlRequest("fork_conversation", {})
export type ForkConversationRequest = z.infer<typeof ForkConversationRequest>

export const RewindConversationRequest = controlRequest("rewind_conversation", { target_message_uuid: z.string() })
export type RewindConversationRequest = z.infer<typeof RewindConversationRequest>

export const AddDirectoryRequest = controlRequest("add_directory", {})
export type AddDirectoryRequest = z.infer<typeof AddDirectoryRequest>

export const GetWorkspaceDiffRequest = controlRequest("get_workspace_diff", {})
export type GetWorkspaceDiffRequest = z.infer<typeof GetWorkspaceDiffRequest>
