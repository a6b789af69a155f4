import { isObject, textOf } from "@signalbox/protocol"
import { parseObject } from "@signalbox/protocol/envelope"
import { readBearer } from "@signalbox/transport"
import { asHubError, HubError } from "../errors.ts"
import { refuseSocket, type Upgrade } from "../http/door.ts"
import { BodyReader } from "../http/read-request.ts"
import { errorReply, jsonReply } from "../http/reply.ts"
import type { Caller } from "../model/access.ts"
import type { ClusterSecret } from "./cluster-secret.ts"
import { CALLER_HEADER, HOST_HEADER } from "./fellows.ts"

/** The services of a hub for its fellows, beside all that it does for people. */
export interface FellowServices {
  /** The session's agent has come to the fellow `next`. Nothing happens if this hub does not have it. */
  release(
    session: string,
    agent: { readonly spawn: string | undefined; readonly next: string | undefined },
  ): Promise<void>
  /** Asks a runner that is connected here. */
  requestRunner(runner: string, body: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Reads anew the state that hubs share. */
  refresh(): Promise<void>
  /** The fellow follows what happens here. */
  stream(upgrade: Upgrade): void
  /** A client of the fellow's, for a session that this hub has. */
  client(upgrade: Upgrade): void
}

export interface ClusterDoorOptions {
  readonly secret: Pick<ClusterSecret, "admits">
  readonly services: FellowServices
  /** Serves a request as if its caller had come here. */
  readonly serve: (request: Request, caller: Caller) => Promise<Response> | Response
}

const MAX_BODY_BYTES = 10 * 1024 * 1024
const PATH = /^\/cluster(\/.*)$/

/** `/cluster/…`: fellow hubs alone. */
export class ClusterDoor {
  readonly #options: ClusterDoorOptions
  readonly #bodies = new BodyReader()

  constructor(options: ClusterDoorOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async answer(request: Request): Promise<Response> {
    try {
      await this.#admit(request.headers.get("authorization"))
      const url = new URL(request.url)
      const path = PATH.exec(url.pathname)?.[1] ?? ""
      if (request.headers.has(CALLER_HEADER)) return await this.#serve(request, new URL(path + url.search, url))
      return await this.#doInternal(path, request)
    } catch (error) {
      return errorReply(asHubError(error))
    }
  }

  handles(path: string): boolean {
    return PATH.test(path)
  }

  /** Never rejects. */
  async answerUpgrade(path: string, upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade
    const { services } = this.#options
    // Whoever asks may be gone before it is known who it is.
    socket.on("error", () => undefined)
    try {
      await this.#admit(request.headers.authorization)
      const inner = PATH.exec(path)?.[1] ?? ""
      if (inner !== "/stream" && !inner.startsWith("/ws/session/"))
        throw new HubError("route/unknown", "No such route.")
      if (socket.destroyed) return
      if (inner === "/stream") return services.stream(upgrade)
      const shown = request.headers[CALLER_HEADER]
      const vouchedFor = readCaller(typeof shown === "string" ? shown : null)
      request.url = inner
      services.client({ ...upgrade, vouchedFor })
    } catch (error) {
      refuseSocket(socket, asHubError(error))
    }
  }

  /** Fails for everybody but a fellow. */
  async #admit(authorization: string | null | undefined): Promise<void> {
    const shown = readBearer(authorization ?? undefined) ?? ""
    if (await this.#options.secret.admits(shown)) return
    throw new HubError("auth/required", "Only hubs on this database may call this.")
  }

  async #serve(request: Request, url: URL): Promise<Response> {
    const caller = readCaller(request.headers.get(CALLER_HEADER))
    const { method, body, signal } = request
    const headers = new Headers(request.headers)
    headers.set("host", headers.get(HOST_HEADER) ?? "")
    const about = { method, headers, signal, ...(body === null ? {} : { body, duplex: "half" as const }) }
    return this.#options.serve(new Request(url, about), caller)
  }

  async #doInternal(path: string, request: Request): Promise<Response> {
    const { services } = this.#options
    const body = await this.#bodies.read(request, MAX_BODY_BYTES)
    const fields = isObject(body) ? body : {}
    const [, kind, name, what] = path.split("/").map(decodeURIComponent)
    if (request.method !== "POST") throw new HubError("route/unknown", "No such route.")
    if (kind === "ping") return jsonReply(200, {})
    if (kind === "refresh") {
      await services.refresh()
      return jsonReply(200, {})
    }
    if (kind === "sessions" && name !== undefined && what === "release") {
      await services.release(name, { spawn: textOf(fields, "spawn"), next: textOf(fields, "next") })
      return jsonReply(200, {})
    }
    if (kind === "runners" && name !== undefined && what === "request") {
      return jsonReply(200, { result: await services.requestRunner(name, fields) })
    }
    throw new HubError("route/unknown", "No such route.")
  }
}

function readCaller(header: string | null): Caller {
  const value = parseObject(Buffer.from(header ?? "", "base64url").toString())
  if (value === undefined || typeof value["role"] !== "string")
    throw new HubError("request/invalid", "The caller header is missing.")
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fellow hub wrote it, as this one does
  return value as unknown as Caller
}
