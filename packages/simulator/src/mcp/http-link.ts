import { isObject, textOf } from "@signalbox/protocol/envelope"
import { deferred } from "@signalbox/transport/pacing"
import { eventsIn } from "../event-stream.ts"
import { parseJson } from "../json.ts"
import type { Fields, RemoteServer } from "../profiles/profile.ts"
import { CONNECTION_CLOSED, type McpLink, McpLinkFailure, type SendOptions } from "./link.ts"
import { RpcPeer, type ServeMcp } from "./rpc-peer.ts"

interface HttpLinkOptions {
  readonly userAgent: string
  readonly serve: ServeMcp
}

type Answer = Readonly<Fields> | undefined

/** Speaks with a server by posts, each answered as JSON or as a stream that ends with the answer. */
export function openHttpLink(server: RemoteServer, { userAgent, serve }: HttpLinkOptions): McpLink {
  const over = new AbortController()
  /** What the server gave with its answer to `initialize`, and wants to see again. */
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
export async function openSseLink(
  server: RemoteServer,
  { userAgent, serve, timeoutMs }: HttpLinkOptions & { readonly timeoutMs: number },
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
  const peer = new RpcPeer((message) => void post(message).catch(() => peer.close()), serve)
  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const { event, data } of eventsIn(body)) {
      if (event === "endpoint") endpoint.resolve(new URL(data, server.url))
      else if (event === "message") peer.take(parseJson(data))
    }
  }
  const end = () => {
    fail("SSE connection closed")
    peer.close()
  }
  void read(response.body).then(end, end)
  opening.addEventListener("abort", () => fail("timed out"))
  await reached()
  return {
    send: (message, options) => peer.send(message, options),
    get isOpen() {
      return !peer.isClosed
    },
    async close() {
      peer.close()
      over.abort()
    },
  }
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

function until({ signal, timeoutMs }: SendOptions, over: AbortSignal): AbortSignal {
  const timer = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]
  return AbortSignal.any([over, ...timer, ...(signal === undefined ? [] : [signal])])
}
