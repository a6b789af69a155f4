import { contextWindowOf } from "../profiles/prices.ts"
import type { Fields } from "../profiles/profile.ts"
import type { AgentCore } from "./core.ts"

/** What fills the context, as `get_context_usage` tells it. */
export function contextUsage(core: AgentCore): Fields {
  const { contextWindow } = contextWindowOf(core.state.model, core.profile.generation)
  const used = Math.ceil(JSON.stringify(core.history).length / 4)
  const buffer = 33_000
  const isNewest = core.profile.generation === 325
  const entry = (id: string, name: string, tokens: number, color: string, kind: string) =>
    isNewest ? { id, name, tokens, color, kind } : { name, tokens, color }
  const percentage = Math.round((used / contextWindow) * 100)
  return {
    categories: [
      entry("messages", "Messages", used, "purple_FOR_SUBAGENTS_ONLY", "used"),
      entry("autocompact_buffer", "Autocompact buffer", buffer, "inactive", "buffer"),
      entry("free_space", "Free space", contextWindow - used - buffer, "promptBorder", "free"),
    ],
    totalTokens: used,
    maxTokens: contextWindow,
    rawMaxTokens: contextWindow,
    autocompactSource: isNewest ? "model-default" : "auto",
    autoCompactThreshold: contextWindow - buffer,
    percentage,
    gridRows: [],
    model: core.state.model,
    memoryFiles: [],
    mcpTools: [],
    agents: [],
    ...(isNewest ? { mcpInstructions: [] } : {}),
    ...listings(core),
    isAutoCompactEnabled: true,
    apiUsage: null,
  }
}

/** What it has of its own; what each takes of a prompt that is not there is nothing. */
function listings({ profile }: AgentCore): Fields {
  const { commands, skills } = profile.catalog
  const counted = (total: number) => ({ tokens: 0, totalCount: total, includedCount: total })
  return {
    slashCommands: { totalCommands: commands.length, includedCommands: commands.length, tokens: 0 },
    skills: { ...counted(skills.length), skillFrontmatter: [] },
    messageBreakdown: {
      toolCallTokens: 0,
      toolResultTokens: 0,
      attachmentTokens: 0,
      assistantMessageTokens: 0,
      userMessageTokens: 0,
      toolCallsByType: [],
      attachmentsByType: [],
    },
  }
}
