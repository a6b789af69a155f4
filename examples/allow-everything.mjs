import { composeAllow, composeUserMessage, decode, encode } from "@signalbox/protocol"
import { openClaude } from "@signalbox/transport"

const agent = await openClaude({ flags: { permissionPromptTool: "stdio" } })
await agent.send(encode(composeUserMessage("What is in this folder?")))

for await (const line of agent.lines) {
  const decoded = decode(line, "agent")
  if (decoded.kind !== "known") continue // newer than we are: carried, never dropped
  const { message } = decoded
  if (message.type === "control_request" && message.request.subtype === "can_use_tool") {
    await agent.send(encode(composeAllow({ request_id: message.request_id, request: message.request })))
  }
  if (message.type === "result") {
    console.log(message.subtype === "success" ? message.result : message.subtype)
    agent.endInput() // no more messages: the agent finishes what it does and exits
  }
}
