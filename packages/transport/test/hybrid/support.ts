import type { IncomingMessage, ServerResponse } from "node:http"
import { request } from "node:http"
import { WebSocket } from "ws"
import {
  createHybridReceiver,
  dialHybrid,
  type HybridConnection,
  type HybridDialOptions,
  type HybridReceiverOptions,
} from "../../src/index.ts"
import { Inbox, listenAccepting, listenRaw, type RawAgentServer, rawSocket } from "../websocket/support.ts"

export interface PostReceived {
  readonly path: string
  readonly token: string | undefined
  readonly body: string
  readonly response: ServerResponse
}

export interface HybridServer extends RawAgentServer {
  readonly posts: Inbox<PostReceived>
  /** Takes the POSTs in place of `posts`. */
  readonly onPost: (take: (posted: PostReceived) => void) => void
}

/** A raw server for our dialled hybrid: each POST waits in `posts` for the test to answer it. */
export async function listenHybrid(): Promise<HybridServer> {
  const server = await listenRaw()
  const posts = new Inbox<PostReceived>()
  let take = (posted: PostReceived) => posts.put(posted)
  server.server.on("request", (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("error", () => undefined)
    incoming.on("end", () =>
      take({
        path: incoming.url ?? "",
        token: incoming.headers.authorization,
        body: Buffer.concat(chunks).toString("utf8"),
        response,
      }),
    )
  })
  return {
    ...server,
    posts,
    onPost: (other) => {
      take = other
    },
  }
}

export async function openHybrid(options: Partial<HybridDialOptions> = {}, path = "/v1/ws/abc") {
  const server = await listenHybrid()
  const connection = dialHybrid({ token: "secret", closeTimeoutMs: 300, ...options, url: `${server.url}${path}` })
  const socket = await server.sockets.next()
  return {
    server,
    connection,
    socket,
    raw: rawSocket(socket),
    dispose: async () => {
      await connection.close("test over")
      await server.close()
    },
  }
}

export interface PostReply {
  readonly status: number
  readonly body: string
}

export interface PostParts {
  readonly path?: string
  readonly token?: string | undefined
  readonly body: string | Buffer
  readonly method?: string
}

/** One POST, as an agent would make it. */
export function post(port: number, parts: PostParts): Promise<PostReply> {
  const { path = "/v1/session/abc/events", token = "secret", body, method = "POST" } = parts
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const outgoing = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
      )
    })
    outgoing.on("error", reject)
    outgoing.end(body)
  })
}

/** Our receiving end, with a raw `ws` client as the agent. */
export async function receiveOne(options: HybridReceiverOptions = {}, path = "/v1/ws/abc") {
  const receiver = createHybridReceiver(options)
  const responses = new Inbox<ServerResponse>()
  const server = await listenAccepting(options, (incoming, response) => {
    responses.put(response)
    void receiver.receiveEvents(incoming, response)
  })
  const client = new WebSocket(`${server.url}${path}`, { headers: { authorization: "Bearer secret" } })
  const raw = rawSocket(client)
  const [accepted] = await Promise.all([server.accepted.next(), raw.opened])
  if (accepted === "none") throw new Error("the connection was refused")
  const connection: HybridConnection = receiver.attach(accepted)
  return {
    server,
    receiver,
    responses,
    connection,
    client,
    raw,
    dispose: async () => {
      await connection.close("test over")
      client.terminate()
      await server.close()
    },
  }
}
