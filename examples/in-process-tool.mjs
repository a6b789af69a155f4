// A tool of our own, in our own process: no server to start.
import { createSdkMcpServer, query, tool } from "@signalbox/sdk"
import { z } from "zod"

const clock = createSdkMcpServer({
  name: "clock",
  tools: [
    tool("time_in", "The time in a city", { city: z.string() }, async ({ city }) => ({
      content: [{ type: "text", text: `It is noon in ${city}.` }],
    })),
  ],
})

const run = query({
  prompt: "What time is it in Paris?",
  options: { mcpServers: { clock }, allowedTools: ["mcp__clock__time_in"] },
})

for await (const message of run)
  if (message.type === "result" && message.subtype === "success") console.log(message.result)
