import { composeAllow, composeDeny, composeSuccess, type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import type { ControlRequestLine } from "./agent-host.ts"

/** Answers every permission request with an allow, and nothing else. */
export function allowTools({ request_id, subtype, request }: ControlRequestLine): Envelope | null {
  return subtype === "can_use_tool" ? composeAllow(question(request_id, request)) : null
}

export function denyTools(message: string, options: { interrupt?: boolean } = {}) {
  return ({ request_id, subtype, request }: ControlRequestLine): Envelope | null =>
    subtype === "can_use_tool" ? composeDeny(question(request_id, request), message, options) : null
}

export function question(requestId: string, request: Readonly<Record<string, unknown>>) {
  const toolUse = textOf(request, "tool_use_id")
  const input = fieldOf(request, "input") ?? {}
  return { request_id: requestId, request: toolUse === undefined ? { input } : { input, tool_use_id: toolUse } }
}

/** A hook's output as the answer to its callback; permission requests are allowed. */
export function hookOutput(output: Record<string, unknown>) {
  return (asked: ControlRequestLine): Envelope | null =>
    asked.subtype === "hook_callback" ? composeSuccess(asked.request_id, output) : allowTools(asked)
}

/** A small MCP server behind `mcp_message`: one tool, `shout`. */
export function shoutingServer(calls: unknown[]) {
  return (asked: ControlRequestLine): Envelope | null => {
    if (asked.subtype !== "mcp_message") return allowTools(asked)
    const message = fieldOf(asked.request, "message") ?? {}
    return composeSuccess(asked.request_id, { mcp_response: { jsonrpc: "2.0", ...rpcAnswer(message, calls) } })
  }
}

function rpcAnswer(message: Readonly<Record<string, unknown>>, calls: unknown[]): Record<string, unknown> {
  const id = message["id"] ?? 0
  const params = fieldOf(message, "params") ?? {}
  switch (message["method"]) {
    case "initialize":
      return {
        id,
        result: {
          protocolVersion: params["protocolVersion"],
          capabilities: { tools: {} },
          serverInfo: { name: "shouting", version: "1.0.0" },
        },
      }
    case "tools/list":
      return {
        id,
        result: { tools: [{ name: "shout", description: "Says it louder", inputSchema: { type: "object" } }] },
      }
    case "tools/call":
      calls.push(params)
      return { id, result: { content: [{ type: "text", text: "HELLO" }] } }
    default:
      return { id, result: {} }
  }
}
