import { type Options, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Options that say something about the same thing: which of them holds, and what becomes of both. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const session = "d1ff0000-0000-4000-8000-000000000001"
  const sets: Options[] = [
    { skills: ["a", "b", "a"], allowedTools: ["Skill(b)", "Read"] },
    { skills: "all", allowedTools: ["Skill"] },
    {
      sandbox: { enabled: true },
      settings: { model: "m", sandbox: { enabled: false, autoAllowBashIfSandboxed: true } },
    },
    { sandbox: { enabled: false }, settings: '{"sandbox":{"enabled":true},"model":"m"}' },
    { sandbox: { enabled: true }, extraArgs: { settings: '{"model":"m"}', other: null } },
    { settings: { model: "m" }, extraArgs: { settings: '{"model":"n"}', other: "x" } },
    { model: "m", extraArgs: { model: "n" } },
    { thinking: { type: "adaptive", display: "summarized" }, maxThinkingTokens: 100 },
    { debug: true, debugFile: "/dev/null" },
    { continue: true, resume: session, forkSession: true, sessionId: session },
    { permissionPrompts: "none", canUseTool: async () => ({ behavior: "deny", message: "" }) },
    { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true },
  ]
  for (const set of sets) await watch(query({ prompt: "hello", options: { ...options, ...set } }))
}
