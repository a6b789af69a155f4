import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { Hangs } from "../scenario/hangs.ts"
import { parseScenario } from "../scenario/parse-scenario.ts"
import { createIds, estimateTokens, type Ids, replyActions } from "../scenario/reply-events.ts"
import type { Scenario } from "../scenario/schema.ts"
import { SimulatorError } from "../simulator-error.ts"
import { requireLoopbackHost } from "./claude-environment.ts"
import { deliver, deliverError } from "./deliver.ts"
import { sendError, sendJson } from "./json-answers.ts"
import { type Played, Player } from "./player.ts"
import { type ApiProblem, type RecordedRequest, Recording, recordOf } from "./recording.ts"
import { type MessagesRequest, parseRequest } from "./request.ts"

export interface ScriptedApiOptions {
  scenario: Scenario
  /** 0, the default, takes a free one. */
  port?: number
  /** Only names of this machine's loopback are taken. */
  host?: string
  maxBodyBytes?: number
  /** How much is kept for assertions; the oldest is forgotten first. */
  maxRecordedRequests?: number
  maxRecordedBytes?: number
}

export interface ScriptedApi {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  /** Requests the script had no answer for, and paths a CLI was not expected to ask for. */
  readonly errors: readonly ApiProblem[]
  /** The first request, past or to come, that the function accepts. Rejects when the API is closed. */
  untilRequest: (accepts: (request: RecordedRequest) => boolean) => Promise<RecordedRequest>
  /** A reply is hanging, under this name if one is given. Rejects when the API is closed. */
  untilHanging: (name?: string) => Promise<void>
  /** Lets hanging replies go on; says how many. */
  release: (name?: string) => number
  close: () => Promise<void>
}

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024
const DEFAULT_MAX_RECORDED_REQUESTS = 1000
const DEFAULT_MAX_RECORDED_BYTES = 128 * 1024 * 1024

/** A Messages API on loopback whose model follows a scenario. Throws `scenario/invalid` before it listens. */
export async function openScriptedApi(options: ScriptedApiOptions): Promise<ScriptedApi> {
  const host = requireLoopbackHost(options.host ?? "127.0.0.1")
  const player = new Player(parseScenario(options.scenario))
  const hangs = new Hangs()
  const recording = new Recording({
    maxRequests: options.maxRecordedRequests ?? DEFAULT_MAX_RECORDED_REQUESTS,
    maxBytes: options.maxRecordedBytes ?? DEFAULT_MAX_RECORDED_BYTES,
  })
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES
  const context = { player, hangs, recording, maxBodyBytes, ids: createIds(randomBytes(6).toString("hex")) }
  const server = createServer((request, response) => serve(request, response, context))
  await once(server.listen({ port: options.port ?? 0, host }), "listening")
  let closing: Promise<void> | undefined
  return {
    url: urlOf(server),
    requests: recording.requests,
    errors: recording.errors,
    untilRequest: (accepts) => recording.until(accepts),
    untilHanging: (name) => hangs.until(name),
    release: (name) => hangs.release(name),
    close: () => {
      closing ??= closeAll(server, hangs, recording)
      return closing
    },
  }
}

function serve(request: IncomingMessage, response: ServerResponse, context: ApiContext): void {
  const gone = new AbortController()
  response.once("close", () => gone.abort())
  routeRequest(request, response, { ...context, signal: gone.signal }).catch((error: unknown) => {
    // A client that goes away in the middle is an ordinary end: that is how a CLI interrupts.
    if (gone.signal.aborted) return
    const problem = { method: request.method ?? "", path: request.url ?? "" }
    context.recording.addError({ kind: "internal", message: String(error), ...problem })
    response.destroy()
  })
}

function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === "string")
    throw new SimulatorError("messages-api/not-loopback", "The scripted API is not listening on a port.")
  return address.family === "IPv6"
    ? `http://[${address.address}]:${address.port}`
    : `http://${address.address}:${address.port}`
}

async function closeAll(server: Server, hangs: Hangs, recording: Recording): Promise<void> {
  hangs.close()
  recording.close()
  const closed = once(server.close(), "close")
  server.closeAllConnections()
  await closed
}

interface ApiContext {
  player: Player
  hangs: Hangs
  recording: Recording
  ids: Ids
  maxBodyBytes: number
}

type Exchange = Omit<ApiContext, "maxBodyBytes"> & {
  response: ServerResponse
  signal: AbortSignal
  http: { method: string; path: string; headers: IncomingMessage["headers"] }
}

async function routeRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes, ...context }: ApiContext & { signal: AbortSignal },
): Promise<void> {
  const http = { method: request.method ?? "", path: request.url ?? "", headers: request.headers }
  const exchange = { ...context, response, http }
  const path = http.path.split("?", 1)[0]
  const isMessage = path === "/v1/messages" || path === "/v1/messages/count_tokens"
  if (http.method === "POST" && isMessage) {
    const body = await readBody(request, maxBodyBytes)
    if (body === undefined) return refuse(exchange, 413, "body-too-large", `A body of more than ${maxBodyBytes} bytes.`)
    const parsed = parseRequest(body, request.headers)
    if (parsed === undefined) return refuse(exchange, 400, "bad-request", "The body is not a Messages API request.")
    return path === "/v1/messages" ? answerMessage(parsed, exchange) : answerCount(parsed, exchange)
  }
  if (path === "/api/hello" && (http.method === "GET" || http.method === "HEAD")) {
    return sendJson(response, 200, { message: "hello" })
  }
  return refuse(exchange, 404, "unexpected-path", `Nothing is served at ${http.method} ${http.path}.`)
}

async function answerMessage(request: MessagesRequest, exchange: Exchange): Promise<void> {
  const { player, recording, ids, response, hangs, signal, http } = exchange
  const played = player.play(request)
  recording.add({ ...recordOf(request, http), ...whatWasPlayed(played) }, request.bodyBytes)
  if (played.kind === "ended") {
    const message = `The script has no turn for: ${played.said.slice(0, 500)}`
    recording.addError({ kind: "script-ended", message, method: http.method, path: http.path })
  }
  const delivery = { response, hangs, signal, requestId: ids.next("req") }
  if (played.call.kind === "error") return deliverError(played.call.error, delivery)
  const asked = { model: request.model, inputUnits: JSON.stringify(request.messages).length }
  const actions = replyActions(played.call, asked, ids)
  const complete = await deliver(actions, { ...delivery, isStreamed: request.stream })
  if (played.kind === "conversation") played.finish(complete)
}

function answerCount(request: MessagesRequest, { recording, response, http }: Exchange): void {
  recording.add({ ...recordOf(request, http), kind: "count" }, request.bodyBytes)
  sendJson(response, 200, { input_tokens: estimateTokens(JSON.stringify(request.messages).length) })
}

function whatWasPlayed(played: Played): Pick<RecordedRequest, "kind" | "side" | "position"> {
  if (played.kind === "conversation") return { kind: "conversation", position: played.position }
  return played.kind === "side" ? { kind: "side", side: played.side } : { kind: "ended" }
}

function refuse(
  { recording, response, http, ids }: Exchange,
  status: number,
  kind: ApiProblem["kind"],
  message: string,
) {
  recording.addError({ kind, message, method: http.method, path: http.path })
  sendError(response, { status, message, requestId: ids.next("req") })
}

/** The body, or undefined if it is longer than allowed. The rest is read all the same, or the answer would not arrive. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Without an encoding set the stream gives buffers.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= maxBytes) chunks.push(chunk)
    else chunks.length = 0
  }
  return bytes <= maxBytes ? Buffer.concat(chunks).toString("utf8") : undefined
}
