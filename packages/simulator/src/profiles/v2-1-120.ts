import {
  commandsWith,
  initFields,
  olderServerFields,
  resultFields,
  spendingOf,
  syntheticFields,
  userFields,
} from "./older.ts"
import type { Fields, ResultFacts, SessionFacts, WireProfile } from "./profile.ts"
import { quirks2120 } from "./quirks.ts"
import { agent, askFields, callUsage, command, HAIKU_4_5, memoryPath } from "./shared.ts"
import { profile2137 } from "./v2-1-37.ts"

// CLI 2.1.120, the last that dials an address of ours. Descriptions are our own words; names are the wire's.

const skills = ["update-config", "debug", "simplify", "batch", "fewer-permission-prompts", "loop", "claude-api"]

const TOOLS =
  "Task AskUserQuestion Bash CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree " +
  "ExitPlanMode ExitWorktree Glob Grep NotebookEdit Read ScheduleWakeup Skill TaskOutput TaskStop " +
  "TodoWrite WebFetch WebSearch Write"

const commands = [
  command("update-config", "Change the settings"),
  command("debug", "Turn on the debug log of this session", "[issue description]"),
  command("simplify", "Review and simplify changed code"),
  command("batch", "Plan and carry out a large change in parallel", "<instruction>"),
  command("fewer-permission-prompts", "Propose rules for commands that only read"),
  command("loop", "Run a prompt again and again", "[interval] <prompt>", "proactive"),
  command("claude-api", "Help with programs that use the Claude API"),
  command("clear", "Begin a new session", "", "reset", "new"),
  command("compact", "Replace the history by a summary", "<optional custom summarization instructions>"),
  command("context", "Show how full the context is"),
  command("heapdump", "Write the heap to a file"),
  command("init", "Write a CLAUDE.md for this project"),
  command("review", "Review a pull request"),
  command("security-review", "Review the pending changes for security"),
  command("usage", "Show what this session cost", "", "cost", "stats"),
  command("insights", "Report on your sessions"),
  command("team-onboarding", "Write a guide for teammates"),
]

const agents = [
  agent("Explore", "Finds code, reads only", "haiku"),
  agent("general-purpose", "Researches and works on tasks of several steps"),
  agent("Plan", "Designs plans"),
  agent("statusline-setup", "Configures the status line", "sonnet"),
]

const effort = (...more: string[]) => ({
  supportsEffort: true,
  supportedEffortLevels: ["low", "medium", "high", ...more, "max"],
  supportsAdaptiveThinking: true,
  supportsAutoMode: true,
})

function init(facts: SessionFacts): Fields {
  return {
    ...initFields(facts, { version: "2.1.120", commands, skills }),
    analytics_disabled: true,
    uuid: facts.uuid,
    memory_paths: { auto: memoryPath(facts.configDir, facts.cwd) },
    fast_mode_state: "off",
  }
}

function initializeReply(facts: SessionFacts): Fields {
  return {
    commands: commandsWith(facts, { commands, skills }),
    agents: facts.agents,
    output_style: facts.outputStyle,
    available_output_styles: profile2120.catalog.outputStyles,
    models: profile2120.catalog.models.map(({ value, displayName, description, traits }) => ({
      value,
      displayName,
      description,
      ...traits,
    })),
    account: { tokenSource: "none", apiKeySource: facts.apiKeySource, apiProvider: "firstParty" },
    pid: facts.pid,
  }
}

function result(facts: ResultFacts): Fields {
  const { outcome, terminalReason } = facts
  const isOverBudget = outcome.kind === "error" && outcome.subtype === "error_max_budget_usd"
  const common = {
    ...spendingOf(facts, profile2120.shapes),
    // An error of the API is a turn that came to its end, here.
    ...(terminalReason === undefined || isOverBudget
      ? {}
      : { terminal_reason: terminalReason === "api_error" ? "completed" : terminalReason }),
    fast_mode_state: "off",
    uuid: facts.uuid,
  }
  const apiError = outcome.kind === "success" ? outcome.apiError : undefined
  return resultFields(facts, common, terminalReason === undefined ? {} : { api_error_status: apiError?.status ?? null })
}

export const profile2120: WireProfile = {
  version: "2.1.120",
  generation: 120,
  dial: "cli2120",
  catalog: {
    tools: TOOLS.split(" "),
    commands,
    skills,
    agents,
    agentNames: agents.map(({ name }) => name),
    models: [
      {
        value: "default",
        resolvedModel: "claude-sonnet-4-6",
        displayName: "Default (recommended)",
        description: "Use the default model (currently Sonnet 4.6) · $3/$15 per Mtok",
        traits: effort(),
      },
      {
        value: "sonnet[1m]",
        resolvedModel: "claude-sonnet-4-6[1m]",
        displayName: "Sonnet (1M context)",
        description: "Sonnet 4.6 for long sessions · $3/$15 per Mtok",
        traits: effort(),
      },
      {
        value: "opus[1m]",
        resolvedModel: "claude-opus-4-7[1m]",
        displayName: "Opus 4.7 (1M context)",
        description: "Opus 4.7 with 1M context · Most capable for complex work · $5/$25 per Mtok",
        traits: effort("xhigh"),
      },
      HAIKU_4_5,
    ],
    outputStyles: ["default", "Explanatory", "Learning"],
    permissionModes: ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"],
    plugins: [],
  },
  quirks: quirks2120,
  shapes: {
    ...profile2137.shapes,
    init,
    initializeReply,
    result,
    user: userFields,
    ask: (facts) => askFields(facts, 120),
    mcpServer: (facts) => olderServerFields(facts, 120),
    contextWindow: (model) =>
      /opus/.test(model)
        ? { contextWindow: 1_000_000, maxOutputTokens: 64_000 }
        : { contextWindow: 200_000, maxOutputTokens: 32_000 },
    callUsage: (usage) => callUsage(usage, { inference_geo: "", iterations: [], speed: "standard" }),
    mcpClient: {
      name: "claude-code",
      title: "Claude Code",
      version: "2.1.120",
      description: "Anthropic's agentic coding tool",
      websiteUrl: "https://claude.com/claude-code",
    },
    syntheticMessage: (id, text) => syntheticFields(id, text, { inference_geo: null, iterations: null, speed: null }),
  },
}
