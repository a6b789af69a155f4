#!/usr/bin/env node
// An MCP server on stdio with two tools: `echo`, and `ask`, which asks the user for a name.
import { createInterface } from "node:readline"

const TOOLS = [
  {
    name: "echo",
    description: "Says it back",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  },
  { name: "ask", description: "Asks who you are", inputSchema: { type: "object", properties: {} } },
]
const NAME_FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }

/** @type {Map<number, (result: unknown) => void>} */
const asked = new Map()
let lastAsked = 1000

/** @param {Record<string, unknown>} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
/** @param {string} text */
const text = (text) => ({ content: [{ type: "text", text }] })

/** @param {{ name: string, arguments?: { text?: string } }} params */
async function call({ name, arguments: input = {} }) {
  if (name === "echo") return text(`echo: ${input.text}`)
  const id = ++lastAsked
  send({ id, method: "elicitation/create", params: { message: "Who are you?", requestedSchema: NAME_FORM } })
  const answer = await new Promise((resolve) => asked.set(id, resolve))
  return text(`answered: ${JSON.stringify(answer)}`)
}

/** @param {{ method: string, params: any }} request */
async function answer({ method, params }) {
  if (method === "initialize") {
    const serverInfo = { name: "echo", version: "1.0.0" }
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }
  }
  if (method === "tools/list") return { tools: TOOLS }
  if (method === "tools/call") return call(params)
  return {}
}

/** @param {any} message */
async function take(message) {
  if (message.method === undefined) asked.get(message.id)?.(message.result ?? message.error)
  else if (message.id !== undefined) send({ id: message.id, result: await answer(message) })
}

createInterface({ input: process.stdin }).on("line", (line) => void take(JSON.parse(line)))
