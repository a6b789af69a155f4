import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "mcp__left__say", input: { word: "L" } },
        { tool: "mcp__right__say", input: { word: "R" } },
        { say: "Both spoke." },
      ],
    },
  ],
}

const speaker = (name: string) =>
  createSdkMcpServer({
    name,
    tools: [
      tool("say", `Says it on the ${name}`, { word: z.string() }, async ({ word }) => {
        observe("tool", { name, word })
        return { content: [{ type: "text", text: `${name}: ${word}` }] }
      }),
    ],
  })

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "speak",
      options: {
        ...basics(),
        mcpServers: { left: speaker("left"), right: speaker("right") },
        canUseTool: async (name, input, { mcpServer }) => {
          observe("asked", { name, input, mcpServer })
          return { behavior: "allow", updatedInput: input }
        },
      },
    }),
  )
}
