import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** The executable says what it was started with and what it was told. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  await watch(query({ prompt: "hello", options }))
  await watch(
    query({
      prompt: "hello again",
      options: {
        ...options,
        model: "some-model",
        fallbackModel: "other-model",
        maxTurns: 3,
        maxBudgetUsd: 1.5,
        betas: ["context-1m-2025-08-07"],
        resume: "d1ff0000-0000-4000-8000-000000000001",
        forkSession: true,
        allowedTools: ["Read", "Bash(ls:*)"],
        disallowedTools: ["Write"],
        mcpServers: { web: { type: "http", url: "http://127.0.0.1:9/mcp", headers: { a: "b" } } },
        strictMcpConfig: true,
        settingSources: ["user", "project"],
        permissionMode: "plan",
        includePartialMessages: true,
        additionalDirectories: ["/a", "/b"],
        plugins: [{ type: "local", path: "/p" }],
        extraArgs: { foo: "bar", flag: null },
        sandbox: { enabled: true },
        systemPrompt: { type: "preset", preset: "claude_code", append: "more" },
        outputFormat: { type: "json_schema", schema: { type: "object" } },
        hooks: { Stop: [{ hooks: [async () => ({})], timeout: 7 }] },
        canUseTool: async (_name, input) => ({ behavior: "allow", updatedInput: input }),
        executableArgs: ["--no-warnings"],
      },
    }),
  )
}
