import {
  commandsWith,
  initFields,
  olderServerFields,
  rawApiError,
  resultFields,
  spendingOf,
  syntheticFields,
  userFields,
} from "./older.ts"
import type { Fields, ResultFacts, SessionFacts, WireProfile } from "./profile.ts"
import { quirks2137 } from "./quirks.ts"
import { agent, askFields, callUsage, command, HAIKU_4_5, present } from "./shared.ts"

// CLI 2.1.37, the generation of the seed documents. Descriptions are our own words; names are the wire's.

const TOOLS =
  "Task TaskOutput Bash Glob Grep ExitPlanMode Read Edit Write NotebookEdit WebFetch TodoWrite " +
  "WebSearch TaskStop AskUserQuestion Skill EnterPlanMode ToolSearch"

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

const skills = ["debug"]

function init(facts: SessionFacts): Fields {
  return { ...initFields(facts, { version: "2.1.37", commands, skills }), uuid: facts.uuid }
}

function initializeReply(facts: SessionFacts): Fields {
  return {
    commands: commandsWith(facts, { commands, skills }),
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
  return resultFields(facts, { ...spendingOf(facts, profile2137.shapes), uuid: facts.uuid })
}

export const profile2137: WireProfile = {
  version: "2.1.37",
  generation: 37,
  dial: "cli2137",
  catalog: {
    tools: TOOLS.split(" "),
    commands,
    skills,
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
      HAIKU_4_5,
    ],
    outputStyles: ["default", "Explanatory", "Learning"],
    permissionModes: ["default", "acceptEdits", "bypassPermissions", "plan", "delegate", "dontAsk"],
    plugins: [],
  },
  quirks: quirks2137,
  shapes: {
    init,
    initializeReply,
    result,
    assistant: (message, { sessionId, uuid, parent }, { error }) =>
      present({ type: "assistant", message, parent_tool_use_id: parent, session_id: sessionId, uuid, error }),
    user: (message, { sessionId, uuid, parent }, extra) => userFields(message, { sessionId, uuid, parent }, extra),
    ask: (facts) => askFields(facts, 37),
    contextWindow: (model) => ({ contextWindow: 200_000, maxOutputTokens: /opus/.test(model) ? 32_000 : 64_000 }),
    callUsage,
    mcpClient: { name: "claude-code", version: "2.1.37" },
    mcpServer: (facts) => olderServerFields(facts, 37),
    apiError: rawApiError,
    syntheticMessage: (id, text) => syntheticFields(id, text, {}),
  },
}
