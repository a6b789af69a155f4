import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  await watch(
    query({
      prompt: "hello",
      options: {
        ...options,
        thinking: { type: "enabled", budgetTokens: 5_000, display: "summarized" },
        effort: "high",
        taskBudget: { total: 9_000 },
        includeHookEvents: true,
        settings: { cleanupPeriodDays: 3 },
        managedSettings: { cleanupPeriodDays: 4 },
        skills: ["one", "two"],
        title: "A title",
        toolAliases: { Bash: "mcp__x__y" },
        forwardSubagentText: true,
        verbatimPrompts: true,
        planModeInstructions: "plan well",
        promptSuggestions: true,
        agentProgressSummaries: true,
        perTaskStopAffordance: true,
        projectConfigRoot: "/root-of-it",
        permissionPrompts: "host",
        pluginDelivery: "initialize",
        plugins: [{ type: "local", path: "/p" }],
        toolConfig: { askUserQuestion: { previewFormat: "html" } },
        enableFileCheckpointing: true,
        supportedDialogKinds: ["k"],
        onUserDialog: async () => ({ behavior: "cancelled" }),
        debugFile: "/dev/null",
        systemPrompt: ["one", "two"],
        agents: { a: { description: "d", prompt: "p" } },
        agent: "a",
        continue: true,
        resumeDropsTurn: "d1ff0000-0000-4000-8000-000000000002",
      },
    }),
  )
  await watch(
    query({ prompt: "hello", options: { ...options, skills: "all", thinking: { type: "enabled" }, debug: true } }),
  )
  await watch(
    query({
      prompt: "hello",
      options: { ...options, maxThinkingTokens: 0, tools: { type: "preset", preset: "claude_code" } },
    }),
  )
}
