#!/usr/bin/env node
// Asks one thing of every kind and tells the line it got for an answer; then it is done.
import { listen, SESSION, say, sayResult } from "./agent.mjs"

const question = {
  subtype: "can_use_tool",
  tool_name: "Bash",
  input: { command: "ls" },
  tool_use_id: "toolu_1",
  permission_suggestions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
  blocked_path: "/b",
  decision_reason: "because",
  decision_reason_type: "hook",
  agent_id: "agent-1",
  title: "A title",
  display_name: "A name",
  description: "A description",
  mcp_server: { name: "s", source: "x" },
  default_to_no: true,
  suppress_always_allow_rule: true,
  requires_user_interaction: true,
  from_the_future: 1,
}
const hookInput = {
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: {},
  session_id: SESSION,
  from_the_future: 1,
}
const form = { type: "object", properties: { name: { type: "string" } } }

/** @type {Record<string, Record<string, unknown>>} */
const requests = {
  permission: question,
  "permission with little": { subtype: "can_use_tool", tool_name: "Read", input: {}, tool_use_id: "toolu_2" },
  hook: { subtype: "hook_callback", callback_id: "hook_0", tool_use_id: "toolu_1", input: hookInput },
  "hook nobody has": { subtype: "hook_callback", callback_id: "hook_9", input: hookInput },
  form: {
    subtype: "elicitation",
    mcp_server_name: "s",
    message: "Name?",
    mode: "form",
    requested_schema: form,
    property_order: ["name"],
  },
  url: {
    subtype: "elicitation",
    mcp_server_name: "s",
    message: "Go",
    mode: "url",
    url: "http://127.0.0.1:9",
    elicitation_id: "e-1",
  },
  unknown: { subtype: "from_the_future", detail: 1 },
  "server nobody has": {
    subtype: "mcp_message",
    server_name: "none",
    message: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  },
  "mcp initialize": {
    subtype: "mcp_message",
    server_name: "sums",
    message: {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "cli", version: "1" } },
    },
  },
  "mcp notification": {
    subtype: "mcp_message",
    server_name: "sums",
    message: { jsonrpc: "2.0", method: "notifications/initialized" },
  },
  "mcp list": { subtype: "mcp_message", server_name: "sums", message: { jsonrpc: "2.0", id: 1, method: "tools/list" } },
  "mcp call": mcpCall(2, { name: "add", arguments: { a: 1 } }),
  "mcp call, wrong": mcpCall(3, { name: "add", arguments: { a: "x" } }),
  "mcp call, unknown": mcpCall(4, { name: "none", arguments: {} }),
  "mcp method, unknown": {
    subtype: "mcp_message",
    server_name: "sums",
    message: { jsonrpc: "2.0", id: 5, method: "no/such" },
  },
}

/** @param {number} id @param {Record<string, unknown>} params */
function mcpCall(id, params) {
  return { subtype: "mcp_message", server_name: "sums", message: { jsonrpc: "2.0", id, method: "tools/call", params } }
}

const names = Object.keys(requests)

function askNext() {
  const name = names.shift()
  if (name === undefined) return sayResult("All asked.")
  // The id as a name, so that it can be read in what is told.
  say({ type: "control_request", request_id: name, request: requests[name] })
}

listen((message) => {
  if (message.type === "user") {
    // Without a handler there is no answer to this one, so nothing waits for it.
    const dialog = { subtype: "request_user_dialog", dialog_kind: "choice", payload: { a: 1 }, tool_use_id: "toolu_1" }
    say({ type: "control_request", request_id: "dialog", request: dialog })
    askNext()
  }
  if (message.type !== "control_response") return
  say({ type: "told", of: message.response.request_id, answer: message, session_id: SESSION, uuid: SESSION })
  if (message.response.request_id !== "dialog") askNext()
})
