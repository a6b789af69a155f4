import type { Catalog, Fields, ModelInfo, OwnPages, PluginInfo } from "./profile.ts"
import { agent, command } from "./shared.ts"

// What 2.1.325 tells of itself. Descriptions are our own words; names are the wire's.

const SKILLS = [
  "deep-research",
  "dataviz",
  "update-config",
  "verify",
  "debug",
  "code-review",
  "simplify",
  "batch",
  "fewer-permission-prompts",
  "doctor",
  "loop",
  "claude-api",
  "workflow-authoring",
  "run",
  "run-skill-generator",
  "plugin-authoring",
]

const COMMANDS = [
  command("deep-research", "Search, read and write a report with its sources"),
  command("dataviz", "Draw a chart"),
  command("update-config", "Change the settings"),
  command("verify", "Try out that a change does what it should"),
  command("debug", "Turn on the debug log of this session", "[issue description]"),
  command("code-review", "Review a change", "[low|medium|high|xhigh|max] [--fix] [--comment] [<target>]", "review"),
  command("simplify", "Review and simplify changed code", "[<target>]"),
  command("batch", "Plan and carry out a large change in parallel", "<instruction>"),
  command("fewer-permission-prompts", "Propose rules for commands that only read"),
  command("doctor", "Look over the installation", "[prompt-audit [<path>]]", "checkup"),
  command("loop", "Run a prompt again and again", "[interval] [prompt]", "proactive"),
  command("claude-api", "Help with programs that use the Claude API"),
  command("workflow-authoring", "How to write a workflow"),
  command("run", "Start this project's program"),
  command("run-skill-generator", "Write a skill that starts this project's program"),
  command("plugin-authoring", "How to write a plugin"),
  command("agents", "Removed"),
  command("auto-mode-setup", "Set up auto mode", "[--request-id <uuid>]"),
  command("autocompact", "When to compact", "[auto|<tokens>]"),
  command("clear", "Begin a new session", "[name]", "reset", "new"),
  command("color", "Colour of the prompt bar", "[red|blue|green|yellow|purple|orange|pink|cyan|default]"),
  command("compact", "Replace the history by a summary", "<optional custom summarization instructions>"),
  command("config", "Change a setting", "key=value", "settings"),
  command("output-style", "List or choose output styles", "[style]"),
  command("context", "Show how full the context is"),
  command("effort", "How much effort to make", "<low|medium|high|xhigh|max|auto>"),
  command("fast", "Turn fast mode on or off", "[on|off]"),
  command("focus", "Show less", "[on|off]"),
  command("heapdump", "Write the heap to a file"),
  command("init", "Write a CLAUDE.md for this project"),
  command("mcp", "Manage MCP servers", "[reconnect|enable|disable [<server>|all]]"),
  command("model", "Choose the model", "<model>"),
  command("__remote-workflow", "Internal"),
  command("workflow-launch-exec", "Internal"),
  command("reload-plugins", "Load plugins anew", "[--force]"),
  command("reload-skills", "Load skills anew"),
  command("rename", "Name this session", "[name]", "name"),
  command("security-review", "Review the pending changes for security"),
  command("usage", "Show what this session cost", "", "cost", "stats"),
  command("insights", "Report on your sessions"),
  command("recap", "Sum up this session in a line"),
  command("goal", "Work until a goal is met"),
  command("list-agents", "List agents and teammates", "", "peers"),
  command("team-onboarding", "Write a guide for teammates"),
]

const TRAITS = {
  supportsEffort: true,
  supportedEffortLevels: ["low", "medium", "high", "xhigh", "max"],
  supportsAdaptiveThinking: true,
}
const FAST = { ...TRAITS, supportsFastMode: true, supportsAutoMode: true, supportsThinkingOff: false }
const PLAIN = { ...TRAITS, supportsAutoMode: true, supportsThinkingOff: false }

const MODELS: readonly ModelInfo[] = [
  {
    value: "default",
    resolvedModel: "claude-opus-5-5",
    displayName: "Default (recommended)",
    description: "Use the default model (currently Opus 5.5) · $4/$20 per Mtok",
    traits: FAST,
  },
  {
    value: "opus",
    resolvedModel: "claude-opus-5-5",
    displayName: "Opus",
    description: "Opus 5.5 · Best for everyday, complex tasks · $4/$20 per Mtok",
    traits: FAST,
  },
  {
    value: "fable",
    resolvedModel: "claude-fable-5-2",
    displayName: "Fable",
    description: "Fable 5.2 · For the hardest and longest tasks · $8/$40 per Mtok",
    traits: FAST,
  },
  {
    value: "sonnet",
    resolvedModel: "claude-sonnet-5-5",
    displayName: "Sonnet",
    description: "Sonnet 5.5 · Efficient for routine tasks · $2/$10 per Mtok",
    traits: PLAIN,
  },
  {
    value: "haiku",
    resolvedModel: "claude-haiku-5-5",
    displayName: "Haiku",
    description: "Haiku 5.5 · Fastest for quick answers · $0.10/$0.50 per Mtok",
    traits: PLAIN,
  },
]

const AGENTS = [
  agent("claude", "For any task that fits no other"),
  agent("Explore", "Finds code, reads only", "inherit"),
  agent("general-purpose", "Researches and works on tasks of several steps"),
  agent("Plan", "Designs plans", "inherit"),
  agent("statusline-setup", "Configures the status line", "sonnet"),
]

const TOOLS =
  "Task AskUserQuestion Bash CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree " +
  "ListAgents Monitor NotebookEdit Read ReportFindings ScheduleWakeup SendMessage Skill TaskStop ToolSearch WebFetch " +
  "WebSearch Workflow Write"

export const catalog2325: Catalog = {
  tools: TOOLS.split(" "),
  commands: COMMANDS,
  skills: SKILLS,
  agents: AGENTS,
  agentNames: AGENTS.map(({ name }) => name),
  models: MODELS,
  outputStyles: ["default", "Proactive", "Concise", "Explanatory", "Learning"],
  permissionModes: ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"],
  plugins: ["cc-plugin-agents-md", "cc-plugin-privacy", "cc-plugin-plugin-authoring"].map((name) => ({
    name,
    path: "builtin",
    source: `${name}@builtin`,
  })),
}

export const TERMINAL_COMMANDS = ["doctor", "color", "focus", "reload-plugins"]

/** Those that the reply to initialize names already. */
export const EARLY_CAPABILITIES = [
  "ui_surface_v1",
  "mcp_call_result_not_for_model_v1",
  "mcp_call_check_permissions_v1",
  "voice_call_talk_line_v1",
  "ui_pane_widget_v1",
  "reload_plugins_refuse_if_busy_v1",
]

/**
 * The lists of commands, skills and plugins. What is kept in files comes first; what the launch's plugins bring stands
 * behind the first of its own.
 */
export function commandsWith(plugins: readonly PluginInfo[], { skills, commands }: OwnPages): Fields[] {
  const byName = commands.toSorted((a, b) => (a.info.name < b.info.name ? -1 : 1))
  const kept = [...skills, ...byName].map(({ info }) => ({ ...info }))
  const own = catalog2325.commands.map((command): Fields => ({ ...command, builtin: true }))
  const theirs = [...plugins.flatMap(({ commands }) => commands), ...plugins.flatMap(({ skills }) => skills)]
  return [...kept, ...own.slice(0, 1), ...theirs.map((command) => ({ ...command })), ...own.slice(1)]
}

export function skillsWith(plugins: readonly PluginInfo[], pages: OwnPages): string[] {
  const [first = "", ...rest] = catalog2325.skills
  return [
    ...pages.skills.map(({ info }) => info.name),
    first,
    ...plugins.flatMap(({ skills }) => skills.map(({ name }) => name)),
    ...rest,
  ]
}

export function pluginsWith(plugins: readonly PluginInfo[]): Fields[] {
  const theirs = plugins.map(({ name, path, version }) => ({
    name,
    path,
    source: `${name}@inline`,
    ...(version === undefined ? {} : { version }),
  }))
  return [...theirs, ...catalog2325.plugins]
}
