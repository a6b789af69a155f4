import { z } from "zod"
import { openEnum, requests } from "./parts.ts"
import { ModelUsage } from "./result.ts"

const Settings = z.record(z.string(), z.unknown())

/**
 * Requests of 2.1.325 that read or change the session around the conversation: usage, files, settings, rules. The unlisted
 * ones it handles without publishing them. Reachable, never relied on: fields are declared only where they were observed,
 * everything else passes as it is.
 */
export const sessionRequests = {
  ...requests("host", "2.1.325", {
    rename_session: {
      asks: { title: z.string(), source: openEnum(["remote", "host"]).optional(), session_id: z.string().optional() },
    },
    set_color: {
      asks: { color: z.string().nullish() },
    },
    get_context_usage: {
      asks: { detail: openEnum(["summary", "full"]).optional() },
      /** With `detail: "summary"` the long lists may be missing. */
      replies: z.looseObject({
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
      }),
    },
    get_session_cost: {
      replies: z.looseObject({ text: z.string() }),
    },
    get_usage: {
      asks: { skip_behaviors: z.boolean().optional() },
      replies: z.looseObject({
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
      }),
    },
    get_binary_version: {
      replies: z.looseObject({ version: z.string(), buildTime: z.string().nullish() }),
    },
    file_suggestions: {
      asks: { query: z.string() },
      replies: z.looseObject({ suggestions: z.array(z.unknown()), cwd: z.string().optional() }),
    },
    read_file: {
      asks: { path: z.string(), max_bytes: z.number().optional(), encoding: z.string().optional() },
      replies: z.looseObject({
        contents: z.string(),
        absPath: z.string(),
        truncated: z.boolean().nullish(),
        encoding: z.string().nullish(),
        lossy: z.boolean().nullish(),
        requested_path: z.string().nullish(),
      }),
    },
    seed_read_state: {
      asks: { path: z.string(), mtime: z.number() },
    },
    register_repo_root: {
      asks: {
        directory: z.string(),
        reload_claude_md: z.boolean().optional(),
        reload_plugins: z.boolean().optional(),
        reload_skills: z.boolean().optional(),
      },
    },
    set_has_subscribers: {
      asks: { has_subscribers: z.boolean().nullable() },
    },
    apply_flag_settings: {
      asks: { settings: Settings },
    },
    get_settings: {
      replies: z.looseObject({
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
      }),
    },
    get_hooks_listing: {
      replies: z.looseObject({
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
      }),
    },
    update_settings: {
      asks: { source: openEnum(["localSettings", "userSettings"]), settings: Settings },
    },
    list_permission_rules: {
      replies: z.looseObject({
        state: z.looseObject({
          rules: z.array(z.unknown()),
          workspaceDirectories: z.array(z.unknown()),
          originalCwd: z.string(),
          managedOnly: z.boolean(),
          errors: z.unknown().optional(),
          withheld: z.unknown().optional(),
        }),
      }),
    },
  }),
  ...requests("host", "unlisted", {
    end_session: {},
    set_cwd: {
      asks: { path: z.string() },
      replies: z.looseObject({
        status: z.string().optional(),
        cwd: z.string().optional(),
        changed: z.boolean().optional(),
      }),
    },
    generate_session_title: {},
    side_question: {},
    get_plan: {
      replies: z.looseObject({
        exists: z.boolean().optional(),
        content: z.string().nullish(),
        path: z.string().nullish(),
      }),
    },
    get_status: {
      /** Written for a person: titles, labels and values are prose. */
      replies: z
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
        .nullish(),
    },
    export_conversation: {},
    fork_conversation: {},
    rewind_conversation: {
      asks: { target_message_uuid: z.string() },
    },
    add_directory: {},
    get_workspace_diff: {},
  }),
}
