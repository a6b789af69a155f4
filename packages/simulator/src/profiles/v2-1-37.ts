import type { Fields, ResultFacts, SessionFacts, WireProfile } from "./profile.ts"
import {
  agent,
  CACHE_CREATION,
  command,
  modelUsage,
  present,
  rawApiError,
  SERVER_TOOLS,
  syntheticBase,
  tokenFields,
} from "./shared.ts"

// CLI 2.1.37, the generation of the seed documents. Descriptions are our own words; names are the wire's.

const commands = [
  command("debug", "Read the debug log of this session", "[issue description]"),
  command("compact", "Replace the history by a summary", "<optional custom summarization instructions>"),
  command("context", "Show how full the context is"),
  command("cost", "Show what this session cost"),
  command("init", "Write a CLAUDE.md for this project"),
  command("pr-comments", "Get the comments of a pull request"),
  command("release-notes", "View release notes"),
  command("review", "Review a pull request"),
  command("security-review", "Review the pending changes for security"),
  command("insights", "Report on your sessions"),
]

const agents = [
  agent("Bash", "Runs commands"),
  agent("general-purpose", "Researches and works on tasks of several steps"),
  agent("statusline-setup", "Configures the status line", "sonnet"),
  agent("Explore", "Searches a code base", "haiku"),
  agent("Plan", "Designs plans"),
]

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
    claude_code_version: "2.1.37",
    output_style: facts.outputStyle,
    agents: facts.agentNames,
    skills: ["debug"],
    plugins: [],
    uuid: facts.uuid,
  }
}

function initializeReply(facts: SessionFacts): Fields {
  return {
    commands,
    output_style: facts.outputStyle,
    available_output_styles: profile2137.catalog.outputStyles,
    models: profile2137.catalog.models.map(({ value, displayName, description }) => ({
      value,
      displayName,
      description,
    })),
    account: { tokenSource: "none", apiKeySource: facts.apiKeySource },
  }
}

function result(facts: ResultFacts): Fields {
  const { outcome, timing } = facts
  const times = { duration_ms: timing.durationMs, duration_api_ms: timing.apiMs }
  const common = {
    // Told only where the CLI itself stopped: the model's own reason is not passed on.
    stop_reason: facts.stopReason === "stop_sequence" ? facts.stopReason : null,
    session_id: facts.sessionId,
    total_cost_usd: facts.totalCostUsd,
    usage: { ...tokenFields(facts.usage), ...SERVER_TOOLS, service_tier: "standard", ...CACHE_CREATION },
    modelUsage: modelUsage(facts.spending, 37),
    permission_denials: facts.denials,
    ...(facts.structuredOutput === undefined ? {} : { structured_output: facts.structuredOutput }),
    uuid: facts.uuid,
  }
  if (outcome.kind === "success") {
    const isError = outcome.apiError !== undefined
    const head = { type: "result", subtype: "success", is_error: isError, ...times, num_turns: facts.numTurns }
    return { ...head, result: outcome.text, ...common }
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

export const profile2137: WireProfile = {
  version: "2.1.37",
  generation: 37,
  dial: "cli2137",
  catalog: {
    tools: [
      "Task",
      "TaskOutput",
      "Bash",
      "Glob",
      "Grep",
      "ExitPlanMode",
      "Read",
      "Edit",
      "Write",
      "NotebookEdit",
      "WebFetch",
      "TodoWrite",
      "WebSearch",
      "TaskStop",
      "AskUserQuestion",
      "Skill",
      "EnterPlanMode",
      "ToolSearch",
    ],
    commands,
    skills: ["debug"],
    agents,
    agentNames: agents.map(({ name }) => name),
    models: [
      {
        value: "default",
        resolvedModel: "claude-sonnet-4-5-20250929",
        displayName: "Default (recommended)",
        description: "Use the default model (currently Sonnet 4.5) · $3/$15 per Mtok",
        traits: {},
      },
      {
        value: "opus",
        resolvedModel: "claude-opus-4-6",
        displayName: "Opus",
        description: "Opus 4.6 · Most capable for complex work · $5/$25 per Mtok",
        traits: {},
      },
      {
        value: "opus[1m]",
        resolvedModel: "claude-opus-4-6[1m]",
        displayName: "Opus (1M context)",
        description: "Opus 4.6 for long sessions · $10/$37.50 per Mtok",
        traits: {},
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
    permissionModes: ["default", "acceptEdits", "bypassPermissions", "plan", "delegate", "dontAsk"],
    plugins: [],
  },
  quirks: {
    diesOfUnknownInput: true,
    responseWithoutBody: "exit",
    unknownRequest: "silence",
    lateInitialize: "refused",
    setModeRepliesTwice: true,
    modeRepliesWithStatus: false,
    checksMode: false,
    bypassNeedsLaunch: false,
    errorCodes: false,
    setModelReplies: false,
    setModelEchoes: false,
    interruptReceipt: false,
    interruptIsError: false,
    interruptedText: "lost",
    mergesQueue: false,
    lifecycle: false,
    allowNeedsInput: true,
    hookTimeout: "continue",
    hookDenialsCount: false,
    promptHookBeforeInit: true,
    connectsMcpAtOnce: false,
    mcpHandshakeTries: 1,
    announcesRequests: false,
    announcesRetries: false,
    taskMessages: false,
    waitsForTasks: false,
    maxTurnsErrors: false,
  },
  shapes: {
    init,
    initializeReply,
    result,
    assistant: (message, { sessionId, uuid, parent }, { error }) =>
      present({ type: "assistant", message, parent_tool_use_id: parent, session_id: sessionId, uuid, error }),
    user: (message, { sessionId, uuid, parent }, { tool_use_result, isSynthetic }) =>
      present({
        type: "user",
        message,
        parent_tool_use_id: parent,
        session_id: sessionId,
        uuid,
        tool_use_result,
        isSynthetic,
      }),
    ask: (facts) =>
      present({
        subtype: "can_use_tool",
        tool_name: facts.toolName,
        input: facts.input,
        permission_suggestions: facts.suggestions,
        blocked_path: facts.blockedPath,
        // It keeps a hook's reason to itself.
        decision_reason: facts.reason?.type === "hook" ? undefined : facts.reason?.text,
        tool_use_id: facts.toolUseId,
        agent_id: facts.agentId,
      }),
    mcpClient: { name: "claude-code", version: "2.1.37" },
    mcpServer: ({ name, status, tools }) =>
      status === "connected" ? { name, status, scope: "dynamic", tools } : { name, status, scope: "user" },
    apiError: rawApiError,
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
      },
      content: [{ type: "text", text }],
      context_management: null,
    }),
  },
}
