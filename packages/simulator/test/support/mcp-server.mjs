#!/usr/bin/env node
// An MCP server for tests: on stdio, or with `--http` and `--sse` on a port it tells on stdout. Its tools: `echo`, `die`,
// and `ask`, which asks the user. It has a resource and a prompt.
import { createServer } from "node:http"
import { createInterface } from "node:readline"

const TOOLS = ["echo", "die", "ask"].map((name) => ({ name, inputSchema: { type: "object" } }))
const FORM = { type: "object", properties: { name: { type: "string" } } }
/** @type {Map<number, (answer: unknown) => void>} */
const asked = new Map()

/** @param {string} text */
const said = (text) => ({ content: [{ type: "text", text }] })

/** @param {{ method: string, params: any }} request @param {(message: object) => void} send */
async function answer({ method, params }, send) {
  if (method === "initialize") {
    const capabilities = { tools: {}, resources: {}, prompts: {} }
    return { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "test", version: "1" } }
  }
  if (method === "tools/list") return { tools: TOOLS }
  if (method === "prompts/list") return { prompts: [{ name: "greet" }] }
  if (method === "resources/list") return { resources: [{ uri: "book://one", name: "book" }] }
  if (method === "resources/read") return { contents: [{ uri: params.uri, text: "Once" }] }
  if (params.name === "die") process.exit(3)
  if (params.name === "echo") return said(`${params.arguments.text} ${process.env["GREETING"] ?? ""} ${process.pid}`)
  const id = 1000 + asked.size
  send({ jsonrpc: "2.0", id, method: "elicitation/create", params: { message: "Who?", requestedSchema: FORM } })
  return said(JSON.stringify(await new Promise((resolve) => asked.set(id, resolve))))
}

/** @param {any} message @param {(message: object) => void} send */
async function take(message, send) {
  if (message.method === undefined) asked.get(message.id)?.(message.result)
  else if (message.id !== undefined) send({ jsonrpc: "2.0", id: message.id, result: await answer(message, send) })
}

function onStdio() {
  const send = (/** @type {object} */ message) => void process.stdout.write(`${JSON.stringify(message)}\n`)
  createInterface({ input: process.stdin }).on("line", (line) => void take(JSON.parse(line), send))
}

/** @param {boolean} isStream */
function onHttp(isStream) {
  /** @type {import("node:http").ServerResponse | undefined} */
  let stream
  const serve = async (
    /** @type {import("node:http").IncomingMessage} */ request,
    /** @type {import("node:http").ServerResponse} */ response,
  ) => {
    if (request.headers["x-key"] !== "open") return void response.writeHead(403).end("no key")
    if (request.method === "GET") {
      stream = response
      response.writeHead(200, { "content-type": "text/event-stream" })
      return void response.write("event: endpoint\r\ndata: /post\r\n\r\n")
    }
    const message = JSON.parse(await text(request))
    const event = (/** @type {object} */ each) => `event: message\ndata: ${JSON.stringify(each)}\n\n`
    if (isStream || message.id === undefined || message.method === undefined) {
      response.writeHead(202).end()
      return take(message, (each) => void stream?.write(event(each)))
    }
    if (message.method !== "initialize" && request.headers["mcp-session-id"] !== "S1")
      return void response.writeHead(400).end()
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": "S1" })
    await take(message, (each) => void response.write(event(each)))
    response.end()
  }
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    process.stdout.write(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp\n`)
  })
}

/** @param {AsyncIterable<Buffer>} body */
async function text(body) {
  const chunks = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

if (process.argv.includes("--http")) onHttp(false)
else if (process.argv.includes("--sse")) onHttp(true)
else onStdio()
