import type { Fields, ResultFacts, SessionFacts, WireProfile } from "./profile.ts"
import {
  agent,
  CACHE_CREATION,
  command,
  memoryPath,
  modelUsage,
  present,
  rawApiError,
  SERVER_TOOLS,
  syntheticBase,
  tokenFields,
} from "./shared.ts"
import { profile2137 } from "./v2-1-37.ts"

// CLI 2.1.120, the last that dials an address of ours. Descriptions are our own words; names are the wire's.

const skills = ["update-config", "debug", "simplify", "batch", "fewer-permission-prompts", "loop", "claude-api"]

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
    type: "system",
    subtype: "init",
    cwd: facts.cwd,
    session_id: facts.sessionId,
    tools: facts.tools,
    mcp_servers: facts.mcpServers.map(({ name, status }) => ({ name, status })),
    model: facts.model,
    permissionMode: facts.permissionMode,
    slash_commands: commands.map(({ name }) => name),
    apiKeySource: facts.apiKeySource,
    claude_code_version: "2.1.120",
    output_style: facts.outputStyle,
    agents: facts.agentNames,
    skills,
    plugins: [],
    analytics_disabled: true,
    uuid: facts.uuid,
    memory_paths: { auto: memoryPath(facts.configDir, facts.cwd) },
    fast_mode_state: "off",
  }
}

function initializeReply(facts: SessionFacts): Fields {
  return {
    commands,
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
  const { outcome, timing } = facts
  const times = { duration_ms: timing.durationMs, duration_api_ms: timing.apiMs }
  const common = {
    stop_reason: facts.stopReason,
    session_id: facts.sessionId,
    total_cost_usd: facts.totalCostUsd,
    usage: {
      ...tokenFields(facts.usage),
      ...SERVER_TOOLS,
      service_tier: "standard",
      ...CACHE_CREATION,
      inference_geo: "",
      iterations: [],
      speed: "standard",
    },
    modelUsage: modelUsage(facts.spending, 120),
    permission_denials: facts.denials,
    ...(facts.structuredOutput === undefined ? {} : { structured_output: facts.structuredOutput }),
    // An error of the API is a turn that came to its end, here.
    ...(facts.terminalReason === undefined || (outcome.kind === "error" && outcome.subtype === "error_max_budget_usd")
      ? {}
      : { terminal_reason: facts.terminalReason === "api_error" ? "completed" : facts.terminalReason }),
    fast_mode_state: "off",
    uuid: facts.uuid,
  }
  if (outcome.kind === "success") {
    const { apiError } = outcome
    const head = { type: "result", subtype: "success", is_error: apiError !== undefined }
    const status = facts.terminalReason === undefined ? {} : { api_error_status: apiError?.status ?? null }
    return { ...head, ...status, ...times, num_turns: facts.numTurns, result: outcome.text, ...common }
  }
  return {
    type: "result",
    subtype: outcome.subtype,
    ...times,
    is_error: outcome.isError,
    num_turns: facts.numTurns,
    ...common,
    errors: outcome.errors,
  }
}

export const profile2120: WireProfile = {
  version: "2.1.120",
  generation: 120,
  dial: "cli2120",
  catalog: {
    tools: [
      "Task",
      "AskUserQuestion",
      "Bash",
      "CronCreate",
      "CronDelete",
      "CronList",
      "Edit",
      "EnterPlanMode",
      "EnterWorktree",
      "ExitPlanMode",
      "ExitWorktree",
      "Glob",
      "Grep",
      "NotebookEdit",
      "Read",
      "ScheduleWakeup",
      "Skill",
      "TaskOutput",
      "TaskStop",
      "TodoWrite",
      "WebFetch",
      "WebSearch",
      "Write",
    ],
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
      {
        value: "haiku",
        resolvedModel: "claude-haiku-4-5-20251001",
        displayName: "Haiku",
        description: "Haiku 4.5 · Fastest for quick answers · $1/$5 per Mtok",
        traits: {},
      },
    ],
    outputStyles: ["default", "Explanatory", "Learning"],
    permissionModes: ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"],
    plugins: [],
  },
  quirks: {
    ...profile2137.quirks,
    diesOfUnknownInput: false,
    unknownRequest: "error",
    setModeRepliesTwice: false,
    modeRepliesWithStatus: true,
    bypassNeedsLaunch: true,
    setModelEchoes: true,
    interruptIsError: true,
    interruptedText: "kept",
    mergesQueue: true,
    hookDenialsCount: true,
    announcesRequests: true,
    announcesRetries: true,
    taskMessages: true,
    waitsForTasks: true,
    maxTurnsErrors: true,
  },
  shapes: {
    ...profile2137.shapes,
    init,
    initializeReply,
    result,
    user: (message, { sessionId, uuid, parent, timestamp }, { tool_use_result, isSynthetic }) =>
      present({
        type: "user",
        message,
        parent_tool_use_id: parent,
        session_id: sessionId,
        uuid,
        timestamp,
        tool_use_result,
        isSynthetic,
      }),
    ask: (facts) =>
      present({
        subtype: "can_use_tool",
        tool_name: facts.toolName,
        display_name: facts.displayName,
        input: facts.input,
        description: facts.description,
        permission_suggestions: facts.suggestions,
        blocked_path: facts.blockedPath,
        decision_reason: facts.reason?.text,
        decision_reason_type: facts.reason?.type,
        tool_use_id: facts.toolUseId,
        agent_id: facts.agentId,
      }),
    mcpClient: {
      name: "claude-code",
      title: "Claude Code",
      version: "2.1.120",
      description: "Anthropic's agentic coding tool",
      websiteUrl: "https://claude.com/claude-code",
    },
    syntheticMessage: (id, text) => ({
      ...syntheticBase(id),
      stop_reason: "stop_sequence",
      stop_sequence: "",
      type: "message",
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        ...SERVER_TOOLS,
        service_tier: null,
        ...CACHE_CREATION,
        inference_geo: null,
        iterations: null,
        speed: null,
      },
      content: [{ type: "text", text }],
      context_management: null,
    }),
    apiError: rawApiError,
  },
}
