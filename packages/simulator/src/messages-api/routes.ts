import type { IncomingMessage, ServerResponse } from "node:http"
import type { Hangs } from "../scenario/hangs.ts"
import { estimateTokens, type Ids, replyActions } from "../scenario/reply-events.ts"
import { deliver, deliverError } from "./deliver.ts"
import { sendError, sendJson } from "./json-answers.ts"
import type { Played, Player } from "./player.ts"
import { type ApiProblem, type RecordedRequest, type Recording, recordOf } from "./recording.ts"
import { type MessagesRequest, parseRequest } from "./request.ts"

export interface ApiContext {
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

export async function routeRequest(
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
  const actions = replyActions(played.call, askedOf(request), ids)
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

function askedOf(request: MessagesRequest): { model: string; inputUnits: number } {
  return { model: request.model, inputUnits: JSON.stringify(request.messages).length }
}
