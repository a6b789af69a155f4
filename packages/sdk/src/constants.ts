import { hookEvents } from "@signalbox/protocol/known"
import type { ExitReason, HookEvent } from "./types/hooks.ts"

/** Every hook event of CLI 2.1.325. */
export const HOOK_EVENTS: readonly HookEvent[] = hookEvents["2.1.325"]

/** Why a session ended. */
export const EXIT_REASONS = [
  "clear",
  "resume",
  "logout",
  "prompt_input_exit",
  "other",
] as const satisfies readonly ExitReason[]

/** In a system prompt given as a list: what follows it changes from session to session. */
export { PROMPT_BOUNDARY as SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from "@signalbox/protocol/launch-options"

// Lists that programs look things up in, as CLI 2.1.325 has them. None of this package's own work depends on one.

/** The names under which the CLI's own tools appear. */
export const BUILTIN_TOOL_NAMES = [
  "Agent",
  "Artifact",
  "AskUserQuestion",
  "Bash",
  "ClaudeDesign",
  "CronCreate",
  "CronDelete",
  "CronList",
  "Edit",
  "EndConversation",
  "EnterPlanMode",
  "EnterWorktree",
  "ExitPlanMode",
  "ExitWorktree",
  "Glob",
  "Grep",
  "ListAgents",
  "ListMcpResourcesTool",
  "LSP",
  "Monitor",
  "NotebookEdit",
  "OfferChromeSetup",
  "PowerShell",
  "Projects",
  "propose_skills",
  "ProposeGoal",
  "PushNotification",
  "Read",
  "ReadMcpResourceDirTool",
  "ReadMcpResourceTool",
  "ReadNotifications",
  "RemoteTrigger",
  "ReportFindings",
  "ScheduleWakeup",
  "SendFeedback",
  "SendMessage",
  "SendUserFile",
  "SendUserMessage",
  "ShareOnboardingGuide",
  "ShowOnboardingRolePicker",
  "Skill",
  "SubagentHandback",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskStop",
  "TaskUpdate",
  "TodoWrite",
  "ToolSearch",
  "WaitForMcpServers",
  "WebFetch",
  "WebSearch",
  "Workflow",
  "Write",
] as const

/** Names of tools in earlier versions, as they may stand in old transcripts and rules. */
export const LEGACY_TOOL_NAME_ALIASES: Readonly<Record<string, string>> = {
  Task: "Agent",
  KillShell: "TaskStop",
  KillBash: "TaskStop",
  ListPeers: "ListAgents",
  Brief: "SendUserMessage",
  ListMcpResources: "ListMcpResourcesTool",
  ReadMcpResource: "ReadMcpResourceTool",
  ReadMcpResourceDir: "ReadMcpResourceDirTool",
}
