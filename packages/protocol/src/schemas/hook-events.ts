import { z } from "zod"
import { ToolInput } from "./content.ts"
import { type Generation, openEnum } from "./parts.ts"
import { ELICITATION_ACTIONS, PermissionUpdate } from "./permission.ts"

type HookEventEntry = { since: Generation; input: z.core.$ZodLooseShape; output: z.core.$ZodLooseShape | null }

/** Why a session ended. */
export const EXIT_REASONS = {
  "2.1.37": ["clear", "logout", "prompt_input_exit", "other", "bypass_permissions_disabled"],
  "2.1.325": ["clear", "resume", "logout", "prompt_input_exit", "other"],
} as const

const text = z.string()
const maybeText = z.string().nullish()
const context = { additionalContext: z.string().optional() }
const tool = { tool_name: text, tool_input: ToolInput, tool_use_id: text }
const mcpServer = { mcp_server: z.looseObject({ name: text, source: maybeText }).nullish() }
const stop = {
  stop_hook_active: z.boolean(),
  last_assistant_message: maybeText,
  background_tasks: z.array(z.unknown()).nullish(),
  session_crons: z.array(z.unknown()).nullish(),
}
const compaction = { trigger: openEnum(["manual", "auto"]) }
const modelSwitch = {
  from_model: text.nullable(),
  to_model: text.nullable(),
  requested_model: maybeText,
  source: maybeText,
  context_tokens: z.number().nullish(),
  prompt_cache_warm: z.boolean().nullish(),
  cache_ttl: z.unknown().optional(),
  estimated_cache_write_usd: z.number().nullish(),
  pricing: z.unknown().optional(),
}
const task = {
  task_id: text,
  task_subject: text,
  task_description: maybeText,
  teammate_name: maybeText,
  team_name: maybeText,
}
const elicitation = { mcp_server_name: text, mode: openEnum(["form", "url"]).nullish(), elicitation_id: maybeText }
const elicited = { action: z.enum(ELICITATION_ACTIONS).optional(), content: z.record(text, z.unknown()).optional() }
const watchPaths = { watchPaths: z.array(text).optional() }

/** Every hook event once: since when, what its input adds to the base, what its `hookSpecificOutput` may hold. */
export const hookEvents = {
  PreToolUse: {
    since: "2.0.77",
    input: { ...tool, ...mcpServer },
    output: {
      permissionDecision: openEnum(["allow", "deny", "ask", "defer"]).optional(),
      permissionDecisionReason: z.string().optional(),
      updatedInput: ToolInput.optional(),
      ...context,
    },
  },
  PostToolUse: {
    since: "2.0.77",
    input: { ...tool, ...mcpServer, tool_response: z.unknown().optional(), duration_ms: z.number().nullish() },
    output: {
      ...context,
      classifierContext: z.unknown().optional(),
      updatedToolOutput: z.unknown().optional(),
      updatedMCPToolOutput: z.unknown().optional(),
    },
  },
  PostToolUseFailure: {
    since: "2.0.77",
    input: {
      ...tool,
      ...mcpServer,
      error: text,
      is_interrupt: z.boolean().nullish(),
      duration_ms: z.number().nullish(),
    },
    output: context,
  },
  PostToolBatch: {
    since: "2.1.325",
    input: {
      tool_calls: z.array(
        z.looseObject({
          tool_name: z.string().optional(),
          tool_input: z.unknown().optional(),
          tool_use_id: maybeText,
          tool_response: z.unknown().optional(),
        }),
      ),
    },
    output: context,
  },
  Notification: {
    since: "2.0.77",
    input: { message: text, title: maybeText, notification_type: maybeText },
    output: context,
  },
  UserPromptSubmit: {
    since: "2.0.77",
    input: { prompt: text, source: maybeText, session_title: maybeText },
    output: { ...context, sessionTitle: z.string().optional(), suppressOriginalPrompt: z.boolean().optional() },
  },
  UserPromptExpansion: {
    since: "2.1.325",
    input: {
      expansion_type: text,
      command_name: text,
      command_args: maybeText,
      command_source: maybeText,
      prompt: text,
    },
    output: { ...context, suppressOriginalPrompt: z.boolean().optional() },
  },
  SessionStart: {
    since: "2.0.77",
    input: {
      source: openEnum(["startup", "resume", "clear", "compact", "fork"]),
      agent_type: maybeText,
      model: maybeText,
      session_title: maybeText,
      seconds_since_last_response: z.number().nullish(),
      context_tokens: z.number().nullish(),
      prompt_cache_likely_expired: z.boolean().nullish(),
      estimated_cache_write_usd: z.number().nullish(),
    },
    output: {
      ...context,
      initialUserMessage: z.string().optional(),
      sessionTitle: z.string().optional(),
      reloadSkills: z.boolean().optional(),
      ...watchPaths,
    },
  },
  SessionEnd: {
    since: "2.0.77",
    input: { reason: openEnum([...EXIT_REASONS["2.1.37"], ...EXIT_REASONS["2.1.325"]]) },
    output: null,
  },
  Stop: { since: "2.0.77", input: stop, output: context },
  StopFailure: {
    since: "2.1.325",
    input: { error: text, error_details: z.unknown().optional(), last_assistant_message: maybeText },
    output: null,
  },
  SubagentStart: { since: "2.0.77", input: { agent_id: text, agent_type: text }, output: context },
  SubagentStop: {
    since: "2.0.77",
    input: { ...stop, agent_id: maybeText, agent_transcript_path: maybeText, agent_type: maybeText },
    output: context,
  },
  PreCompact: { since: "2.0.77", input: { ...compaction, custom_instructions: maybeText }, output: null },
  PostCompact: { since: "2.1.325", input: { ...compaction, compact_summary: maybeText }, output: null },
  PreModelSwitch: {
    since: "2.1.325",
    input: modelSwitch,
    output: {
      permissionDecision: openEnum(["allow", "deny", "ask"]).optional(),
      permissionDecisionReason: z.string().optional(),
    },
  },
  PostModelSwitch: { since: "2.1.325", input: modelSwitch, output: context },
  PermissionRequest: {
    since: "2.0.77",
    input: {
      tool_name: text,
      tool_input: ToolInput,
      permission_suggestions: z.array(PermissionUpdate).nullish(),
      ...mcpServer,
    },
    output: {
      decision: z.discriminatedUnion("behavior", [
        z.looseObject({
          behavior: z.literal("allow"),
          updatedInput: ToolInput.optional(),
          updatedPermissions: z.array(PermissionUpdate).optional(),
        }),
        z.looseObject({
          behavior: z.literal("deny"),
          message: z.string().optional(),
          interrupt: z.boolean().optional(),
        }),
      ]),
    },
  },
  PermissionDenied: {
    since: "2.1.325",
    input: { ...tool, ...mcpServer, reason: maybeText },
    output: { retry: z.boolean().optional() },
  },
  Setup: { since: "2.1.37", input: { trigger: openEnum(["init", "maintenance"]) }, output: context },
  TeammateIdle: { since: "2.1.37", input: { teammate_name: text, team_name: text }, output: null },
  TaskCreated: { since: "2.1.325", input: task, output: null },
  TaskCompleted: { since: "2.1.37", input: task, output: null },
  Elicitation: {
    since: "2.1.325",
    input: { ...elicitation, message: text, url: maybeText, requested_schema: z.record(text, z.unknown()).nullish() },
    output: elicited,
  },
  ElicitationResult: {
    since: "2.1.325",
    input: { ...elicitation, action: openEnum(ELICITATION_ACTIONS), content: z.record(text, z.unknown()).nullish() },
    output: elicited,
  },
  ConfigChange: { since: "2.1.325", input: { source: text, file_path: maybeText }, output: null },
  WorktreeCreate: { since: "2.1.325", input: { name: text }, output: { worktreePath: z.string().optional() } },
  WorktreeRemove: { since: "2.1.325", input: { worktree_path: text }, output: null },
  InstructionsLoaded: {
    since: "2.1.325",
    input: {
      file_path: text,
      memory_type: maybeText,
      load_reason: maybeText,
      globs: z.array(text).nullish(),
      trigger_file_path: maybeText,
      parent_file_path: maybeText,
    },
    output: null,
  },
  CwdChanged: { since: "2.1.325", input: { old_cwd: text, new_cwd: text }, output: watchPaths },
  FileChanged: { since: "2.1.325", input: { file_path: text, event: text }, output: watchPaths },
  DirectoryAdded: { since: "2.1.325", input: { directory: text, source: maybeText }, output: null },
  MessageDisplay: {
    since: "2.1.325",
    input: { turn_id: text, message_id: text, index: z.number(), final: z.boolean(), delta: text },
    output: { displayContent: z.string().optional() },
  },
} as const satisfies Record<string, HookEventEntry>
