import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { pathToFileURL } from "node:url"
import { fieldOf, isObject, parseJson, textOf } from "@signalbox/protocol/envelope"
import { createLineSplitter } from "@signalbox/protocol/framing"
import { deferred } from "@signalbox/transport/pacing"
import { eventsIn } from "../event-stream.ts"
import type { Fields, NamedServer, RemoteServer, StdioServer } from "../profiles/profile.ts"
import type { AskOptions } from "../wire/host-requests.ts"
import { CONNECTION_CLOSED, elicitation, type McpClient, type McpLink, McpLinkFailure } from "./link.ts"

/** Starts or dials a server. Throws an `McpLinkFailure`. */
export async function openLink(client: McpClient, { name, config }: NamedServer, timeoutMs: number): Promise<McpLink> {
  const { launch, profile } = client
  const serve = serveFor(client, name)
  if (config.type === "stdio") {
    const env = { ...launch.env, CLAUDE_CODE_ENTRYPOINT: launch.env["CLAUDE_CODE_ENTRYPOINT"] ?? "sdk-cli" }
    return openStdioLink(config, { cwd: launch.cwd, env, serve })
  }
  if (!URL.canParse(config.url)) {
    throw new McpLinkFailure({ kind: "other", message: `"${config.url}" cannot be parsed as a URL.` })
  }
  const userAgent = `claude-code/${profile.version}${profile.quirks.mcpUserAgent}`
  return config.type === "http"
    ? openHttpLink(config, { userAgent, serve })
    : openSseLink(config, { userAgent, serve, timeoutMs })
}

/** How long a server may take to go when it is told to. */
const GOODBYE_MS = 400

type StdioLinkOptions = { cwd: string; env: McpClient["launch"]["env"]; serve: ServeMcp }

/** Starts a server and speaks with it over its own stdin and stdout. */
async function openStdioLink(server: StdioServer, { cwd, env, serve }: StdioLinkOptions): Promise<McpLink> {
  const child = spawn(server.command, [...(server.args ?? [])], {
    cwd,
    env: { ...env, ...server.env },
    // A CLI keeps the server's stderr in its debug log.
    stdio: ["pipe", "pipe", "ignore"],
  })
  await spawned(child, server.command)
  const peer = new RpcPeer({
    write: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    serve,
    hangUp: () => end(child),
  })
  // A server that is gone does not read; that it is gone is told by its end.
  child.stdin.on("error", () => undefined)
  const splitter = createLineSplitter()
  child.stdout.on("data", (chunk: Buffer) => {
    // A server that writes what is no JSON has lost its way, and is not the reason to end.
    for (const line of splitter.push(chunk)) peer.take(parseJson(line))
  })
  child.once("exit", () => peer.end())
  child.stdout.once("close", () => peer.end())
  return peer
}

async function spawned(child: ChildProcess, command: string): Promise<void> {
  try {
    await once(child, "spawn")
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT"
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new McpLinkFailure(isMissing ? { kind: "no-such-command", command } : { kind: "other", message }, { cause })
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.stdin?.end()
  child.kill("SIGINT")
  const impatience = setTimeout(() => child.kill("SIGKILL"), GOODBYE_MS)
  await gone
  clearTimeout(impatience)
}

type HttpLinkOptions = { userAgent: string; serve: ServeMcp }
type Answer = Readonly<Fields> | undefined

/** Speaks with a server by posts, each answered as JSON or as a stream that ends with the answer. */
function openHttpLink(server: RemoteServer, { userAgent, serve }: HttpLinkOptions): McpLink {
  const over = new AbortController()
  /** Headers that the server gave with its answer to `initialize`, and wants to see again. */
  const kept: Record<string, string> = {}
  const post = (message: Fields, signal: AbortSignal) =>
    reach(server.url, {
      method: "POST",
      headers: { ...baseHeaders(server, userAgent), ...kept, "content-type": "application/json" },
      body: JSON.stringify(message),
      signal,
    })
  const respond = async (request: Readonly<Fields>, signal: AbortSignal) => {
    const response = await post({ ...(await serve(request)), jsonrpc: "2.0", id: request["id"] }, signal)
    await response.body?.cancel()
  }
  const answerIn = async (response: Response, id: unknown, signal: AbortSignal): Promise<Answer> => {
    for await (const message of messagesIn(response)) {
      if (message["method"] === undefined && message["id"] === id) return message
      // A request of the server's, in the middle of its own answer.
      if (message["method"] !== undefined && message["id"] !== undefined) await respond(message, signal)
    }
    return CONNECTION_CLOSED
  }
  return {
    get isOpen() {
      return !over.signal.aborted
    },
    async send(message, options) {
      const signal = until(options, over.signal)
      try {
        const response = await post(message, signal)
        if (!response.ok) throw new McpLinkFailure(await refusal(response))
        const session = response.headers.get("mcp-session-id")
        if (session !== null) kept["mcp-session-id"] = session
        if (message["id"] === undefined) {
          await response.body?.cancel()
          return undefined
        }
        const answer = await answerIn(response, message["id"], signal)
        const version = textOf(answer?.["result"], "protocolVersion")
        if (version !== undefined) kept["mcp-protocol-version"] = version
        return answer
      } catch (error) {
        if (signal.aborted) return undefined
        throw error
      }
    },
    async close() {
      over.abort()
    },
  }
}

/** The older way: one stream for all that the server says, and an address for posts that its first event tells. */
async function openSseLink(
  server: RemoteServer,
  { userAgent, serve, timeoutMs }: HttpLinkOptions & { timeoutMs: number },
): Promise<McpLink> {
  const over = new AbortController()
  const headers = baseHeaders(server, userAgent)
  const opening = until({ timeoutMs }, over.signal)
  const response = await reach(server.url, {
    headers: { ...headers, accept: "text/event-stream" },
    signal: over.signal,
  })
  if (!response.ok || response.body === null) throw new McpLinkFailure(await refusal(response))
  const endpoint = deferred<URL | McpLinkFailure>()
  const fail = (message: string) => endpoint.resolve(new McpLinkFailure({ kind: "other", message }))
  const reached = async () => {
    const found = await endpoint.promise
    if (found instanceof McpLinkFailure) throw found
    return found
  }
  const post = async (message: Fields) => {
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, signal: over.signal }
    const posted = await reach(await reached(), { ...init, body: JSON.stringify(message) })
    await posted.body?.cancel()
  }
  const peer: RpcPeer = new RpcPeer({
    write: (message) => void post(message).catch(() => peer.end()),
    serve,
    hangUp: async () => over.abort(),
  })
  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const { event, data } of eventsIn(body)) {
      if (event === "endpoint") endpoint.resolve(new URL(data, server.url))
      else if (event === "message") peer.take(parseJson(data))
    }
  }
  const end = () => {
    fail("SSE connection closed")
    peer.end()
  }
  void read(response.body).then(end, end)
  opening.addEventListener("abort", () => fail("timed out"))
  await reached()
  return peer
}

function baseHeaders(server: RemoteServer, userAgent: string): Record<string, string> {
  return { "user-agent": userAgent, accept: "application/json, text/event-stream", ...server.headers }
}

async function reach(url: string | URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    throw new McpLinkFailure({ kind: "unreachable" }, { cause })
  }
}

async function refusal(response: Response): Promise<{ kind: "other"; message: string }> {
  const body = (await response.text().catch(() => "")).slice(0, 500)
  return { kind: "other", message: `HTTP ${response.status}${body === "" ? "" : `: ${body}`}` }
}

async function* messagesIn(response: Response): AsyncGenerator<Readonly<Fields>> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true || response.body === null) {
    const value = parseJson(await response.text())
    yield* (Array.isArray(value) ? value : [value]).filter(isObject)
    return
  }
  for await (const { data } of eventsIn(response.body)) {
    const message = parseJson(data)
    if (isObject(message)) yield message
  }
}

function until({ signal, timeoutMs }: AskOptions, over: AbortSignal): AbortSignal {
  const timer = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]
  return AbortSignal.any([over, ...timer, ...(signal === undefined ? [] : [signal])])
}

/** `hangUp` ends the connection that is written to. */
type RpcWay = { write: (message: Fields) => void; serve: ServeMcp; hangUp: () => Promise<void> }

/** Requests and answers of JSON-RPC over one connection, in both directions. */
class RpcPeer implements McpLink {
  readonly #pending = new Map<unknown, (answer: Answer) => void>()
  readonly #way: RpcWay
  isOpen = true

  constructor(way: RpcWay) {
    this.#way = way
  }

  send(message: Fields, { signal, timeoutMs }: AskOptions): Promise<Answer> {
    const { id } = message
    if (!this.isOpen) return Promise.resolve(CONNECTION_CLOSED)
    if (id === undefined) {
      this.#way.write(message)
      return Promise.resolve(undefined)
    }
    return new Promise((resolve) => {
      const settle = (answer: Answer) => {
        if (!this.#pending.delete(id)) return
        clearTimeout(timer)
        signal?.removeEventListener("abort", abort)
        resolve(answer)
      }
      const abort = () => {
        const params = { requestId: id, reason: "AbortError" }
        if (this.isOpen) this.#way.write({ method: "notifications/cancelled", params, jsonrpc: "2.0" })
        settle(undefined)
      }
      const timer = timeoutMs === undefined ? undefined : setTimeout(settle, timeoutMs, undefined)
      this.#pending.set(id, settle)
      signal?.addEventListener("abort", abort, { once: true })
      this.#way.write(message)
    })
  }

  /** A message of the server's. What is none is passed over. */
  take(message: unknown): void {
    if (!isObject(message)) return
    const { id, method } = message
    if (typeof method !== "string") this.#pending.get(id)?.(message)
    else if (id !== undefined) void this.#answer(id, message)
  }

  /** The connection is over. */
  end(): void {
    this.isOpen = false
    for (const settle of Array.from(this.#pending.values())) settle(CONNECTION_CLOSED)
  }

  async close(): Promise<void> {
    this.end()
    await this.#way.hangUp()
  }

  async #answer(id: unknown, request: Readonly<Fields>): Promise<void> {
    const answer = await this.#way.serve(request)
    if (this.isOpen) this.#way.write({ ...answer, jsonrpc: "2.0", id })
  }
}

/** Answers what an MCP server asks of its client. */
type ServeMcp = (request: Readonly<Fields>) => Promise<Fields>

/** As a CLI answers: where it works, what the user says, and that it is there. */
function serveFor(client: McpClient, server: string): ServeMcp {
  return async ({ method, params }) => {
    if (method === "ping") return { result: {} }
    if (method === "roots/list") return { result: { roots: [{ uri: pathToFileURL(client.launch.cwd).href }] } }
    if (method === "elicitation/create" && client.profile.quirks.elicits) {
      return { result: await elicit(client, server, isObject(params) ? params : {}) }
    }
    return { error: { code: -32_601, message: "Method not found" } }
  }
}

async function elicit(client: McpClient, server: string, params: Readonly<Fields>): Promise<Readonly<Fields>> {
  const schema = fieldOf(params, "requestedSchema")
  const isOrdered = client.profile.quirks.ordersProperties && schema !== undefined
  const question = { message: params["message"], url: textOf(params, "url"), id: params["elicitationId"], schema }
  const answer = await client.host.ask(elicitation(server, question, isOrdered))
  return answer.kind === "success" && isObject(answer.payload) ? answer.payload : { action: "cancel" }
}
