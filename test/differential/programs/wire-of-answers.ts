import { createSdkMcpServer, type Options, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { basics, described, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A fake CLI asks one thing of every kind and tells the line it got for an answer. */
export async function run(): Promise<void> {
  const base: Options = { ...basics(), pathToClaudeCodeExecutable: fake("asks-everything") }
  await watch(query({ prompt: "nobody answers", options: base }))
  const add = tool("add", "Adds", { a: z.number() }, async ({ a }) => ({
    content: [{ type: "text", text: String(a + 1) }],
  }))
  const full = (fails: boolean): Options => ({
    ...base,
    canUseTool: async (name, input, options) => {
      observe("asked", { name, input, options: described(options) })
      if (fails) throw new Error("no answer to give")
      return { behavior: "allow", updatedInput: input }
    },
    onElicitation: async (request, options) => {
      observe("elicitation", { request, options: described(options) })
      if (fails) throw new Error("no answer to give")
      return { action: "accept", content: { name: "Ada" } }
    },
    onUserDialog: async (request, options) => {
      observe("dialog", { request, options: described(options) })
      if (fails) throw new Error("no answer to give")
      return { behavior: "completed", result: 1 }
    },
    supportedDialogKinds: ["choice"],
    hooks: {
      PreToolUse: [
        {
          hooks: [
            async (input, toolUseID, options) => {
              observe("hook", { input, toolUseID, options: described(options) })
              if (fails) throw new Error("no answer to give")
              return { systemMessage: "seen" }
            },
          ],
        },
      ],
    },
    mcpServers: { sums: createSdkMcpServer({ name: "sums", version: "1.0.0", tools: [add] }) },
  })
  await watch(query({ prompt: "all answer", options: full(false) }))
  await watch(query({ prompt: "all fail", options: full(true) }))
}
