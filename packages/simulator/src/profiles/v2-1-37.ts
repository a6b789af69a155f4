import { readCatalog } from "./catalog.ts"
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
import { askFields, callUsage, present } from "./shared.ts"

// CLI 2.1.37, the generation of the seed documents.

const catalog = readCatalog("2.1.37")

function init(facts: SessionFacts): Fields {
  return { ...initFields(facts, { version: "2.1.37", ...catalog }), uuid: facts.uuid }
}

function initializeReply(facts: SessionFacts): Fields {
  return {
    commands: commandsWith(facts, catalog),
    output_style: "default",
    available_output_styles: catalog.outputStyles,
    models: catalog.models.map(({ value, displayName, description }) => ({ value, displayName, description })),
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
  catalog,
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
