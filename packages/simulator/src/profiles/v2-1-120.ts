import { readCatalog } from "./catalog.ts"
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
import { askFields, callUsage, memoryPath } from "./shared.ts"
import { profile2137 } from "./v2-1-37.ts"

// CLI 2.1.120, the last that dials an address of ours.

const catalog = readCatalog("2.1.120")

function init(facts: SessionFacts): Fields {
  return {
    ...initFields(facts, { version: "2.1.120", ...catalog }),
    analytics_disabled: true,
    uuid: facts.uuid,
    memory_paths: { auto: memoryPath(facts.configDir, facts.cwd) },
    fast_mode_state: "off",
  }
}

function initializeReply(facts: SessionFacts): Fields {
  return {
    commands: commandsWith(facts, catalog),
    agents: facts.agents,
    output_style: "default",
    available_output_styles: catalog.outputStyles,
    models: catalog.models.map(({ value, displayName, description, traits }) => ({
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
  catalog,
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
