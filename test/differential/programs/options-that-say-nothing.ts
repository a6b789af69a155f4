import { type Options, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A program may compute what it passes: empty texts, empty lists, zeros and `false`, and what is left of them. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const sets: Options[] = [
    { model: "", fallbackModel: "", agent: "", resume: "", sessionId: "", resumeSessionAt: "", maxTurns: 0 },
    { permissionPromptToolName: "", settings: "", debugFile: "", debug: true, title: "", planModeInstructions: "" },
    { maxBudgetUsd: 0, taskBudget: { total: 0 }, thinking: { type: "enabled", budgetTokens: 0 } },
    {
      allowedTools: [],
      disallowedTools: [],
      additionalDirectories: [],
      betas: [],
      plugins: [],
      skills: [],
      agents: {},
    },
    { hooks: {}, mcpServers: {}, extraArgs: {}, toolAliases: {}, toolConfig: {}, managedSettings: {}, sandbox: {} },
    { continue: false, forkSession: false, strictMcpConfig: false, includePartialMessages: false, debug: false },
    { plugins: [], pluginDelivery: "initialize", systemPrompt: [], tools: [], settingSources: [] },
    { enableFileCheckpointing: false, persistSession: true, promptSuggestions: false, forwardSubagentText: false },
    { hooks: { PreToolUse: [], Stop: [{ matcher: "", hooks: [], timeout: 0 }] }, settings: {} },
  ]
  for (const set of sets) await watch(query({ prompt: "hello", options: { ...options, ...set } }))
}
