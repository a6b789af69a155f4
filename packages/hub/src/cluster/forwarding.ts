import { createHash } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { textOf } from "@signalbox/protocol"
import { parseObject } from "@signalbox/protocol/envelope"
import type { WebSocket } from "ws"
import { HubError } from "../errors.ts"
import type { Forwarded } from "../http/app.ts"
import type { Caller } from "../model/access.ts"
import { newestInChain } from "../model/session-record.ts"
import type { SeenHub } from "../store/cluster-store.ts"
import type { Directory } from "../store/directory.ts"
import { type Fellows, HOST_HEADER } from "./fellows.ts"
import type { Membership } from "./membership.ts"
import type { ClusterOwnership, Home } from "./ownership.ts"

export interface ForwardingOptions {
  readonly directory: Pick<Directory, "getAsk" | "listGrants" | "getSession" | "findSession">
  readonly ownership: Pick<ClusterOwnership, "homeOf">
  readonly membership: Pick<Membership, "id" | "fellows" | "refresh">
  readonly fellows: Pick<Fellows, "fetch" | "dial">
}

const LOCAL: Home = { kind: "here" }
/** Longer than the longest that a caller may wish for: the hub that does it ends it. */
const TIMEOUT_MS = 150_000
const TRIES = 5
const PAUSE_MS = 100

/** Calls that need a session itself, not only what the store has of it, go to the hub that has it, and are answered as if they had been made there. */
export class Forwarding {
  readonly #options: ForwardingOptions

  constructor(options: ForwardingOptions) {
    this.#options = options
  }

  /** Undefined: this hub answers it itself. */
  async forward(call: Forwarded): Promise<Response | undefined> {
    const way = wayOf(call)
    if (way === "here") return undefined
    const { method, body, caller, request } = call
    const { pathname, search } = new URL(request.url)
    const headers = headersOf(request)
    const passed = { method, path: pathname + search, body, caller, headers, signal: request.signal }
    const { fellows } = this.#options
    return this.#there(
      () => this.#homeOf(call),
      async (fellow, isLast) => {
        const reply = await fellows.fetch(fellow, passed, { timeoutMs: TIMEOUT_MS, goesOn: way === "stream" })
        if (reply.status !== 503 || isLast) return relayed(reply)
        const text = await reply.text()
        // It was not begun: the session is elsewhere.
        return parseObject(text)?.["isElsewhere"] === true ? undefined : relayed(reply, text)
      },
    )
  }

  /** A connection for a client of this session, at the hub that has it. Undefined: this hub serves the client itself. */
  async dialClient(session: string, caller: Caller): Promise<WebSocket | undefined> {
    const { fellows, ownership } = this.#options
    const home = async () => {
      const newest = await this.#newestOf(session)
      return newest === undefined ? LOCAL : ownership.homeOf(newest)
    }
    return this.#there(home, (fellow, isLast) =>
      fellows.dial(fellow, `/ws/session/${encodeURIComponent(session)}`, caller).catch((error: unknown) => {
        if (isLast || !(error instanceof HubError && error.details["isElsewhere"] === true)) throw error
        return undefined
      }),
    )
  }

  /** Asks the hub whose it is, and looks again where that is if it was not begun there. Undefined: it is this hub's. */
  async #there<T>(
    homeOf: () => Promise<Home>,
    ask: (fellow: SeenHub, isLast: boolean) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (let tries = 1; ; tries++) {
      const home = await homeOf()
      if (home.kind !== "fellow") return undefined
      const { fellow } = home
      try {
        const done = await ask(fellow, tries >= TRIES)
        if (done !== undefined) return done
      } catch (error) {
        if (await this.#isAlive(fellow, error)) throw error
        continue
      }
      // It has let go of the session a moment ago.
      await pause(tries * PAUSE_MS)
    }
  }

  /** Whether a hub that could not be reached is alive all the same, or was reached. */
  async #isAlive(fellow: SeenHub, error: unknown): Promise<boolean> {
    if (!(error instanceof HubError && error.code === "hub/unreachable")) return true
    const { membership } = this.#options
    await membership.refresh()
    return membership.fellows.some(({ id }) => id === fellow.id)
  }

  async #homeOf({ path, params, body }: Forwarded): Promise<Home> {
    const { directory, ownership } = this.#options
    const { id = "" } = params
    if (/\/sessions\/:id(?:\/|$)/.test(path)) return ownership.homeOf(id)
    if (path.startsWith("/api/asks/:id")) {
      const ask = await directory.getAsk(id)
      return ask === undefined ? LOCAL : ownership.homeOf(ask.sessionId)
    }
    if (path === "/api/grants/:id") {
      const [grant] = await directory.listGrants({ id, all: true })
      return grant === undefined ? LOCAL : ownership.homeOf(grant.sessionId)
    }
    return this.#homeOfNew(body)
  }

  /** A session that goes on from another is made where that one is, and one with a key always on the same hub: so there is one of it. */
  async #homeOfNew(body: unknown): Promise<Home> {
    const { directory, ownership, membership } = this.#options
    const name = textOf(body, "session_key")
    const [key, resume] = [textOf(body, "requestKey") ?? name, textOf(body, "resume") ?? name]
    const known = key === undefined ? undefined : await directory.findSession({ by: "requestKey", key })
    const source = known ?? (resume === undefined ? undefined : await this.#sessionCalled(resume))
    if (source !== undefined) return ownership.homeOf(source)
    if (key === undefined) return LOCAL
    const [chosen] = membership.fellows.toSorted((one, other) => (weight(one, key) < weight(other, key) ? -1 : 1))
    return chosen === undefined || chosen.id === membership.id ? LOCAL : { kind: "fellow", fellow: chosen }
  }

  async #sessionCalled(name: string): Promise<string | undefined> {
    const newest = await this.#newestOf(name)
    if (newest !== undefined) return newest
    const id = await this.#options.directory.findSession({ by: "agentSessionId", key: name })
    return id && this.#newestOf(id)
  }

  #newestOf(id: string): Promise<string | undefined> {
    return newestInChain((each) => this.#options.directory.getSession(each), id)
  }
}

/** How a call is answered by the hub that has its session. `here`: any hub answers it. */
function wayOf({ method, path }: Forwarded): "here" | "call" | "stream" {
  if (path === "/v1/code/sessions/:id/events/stream") return "stream"
  if (method === "GET" || path === "/api/sessions/:id/read") return "here"
  const isOfOne = /\/(?:sessions|asks)\/:id(?:\/|$)/.test(path)
  return isOfOne || OTHERS.has(`${method} ${path}`) ? "call" : "here"
}

const OTHERS: ReadonlySet<string> = new Set(["POST /api/sessions", "POST /sessions", "DELETE /api/grants/:id"])

function headersOf({ headers }: Request): Record<string, string> {
  const [host, cursor] = [headers.get("host"), headers.get("last-event-id")]
  return { ...(host !== null && { [HOST_HEADER]: host }), ...(cursor !== null && { "last-event-id": cursor }) }
}

function weight({ id }: SeenHub, key: string): string {
  return createHash("sha256").update(`${id} ${key}`).digest("hex")
}

const TOLD_HEADERS = ["content-type", "retry-after", "allow", "location", "x-accel-buffering"]

function relayed(reply: Response, text?: string): Response {
  const told = TOLD_HEADERS.flatMap((name) => {
    const value = reply.headers.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
  return new Response(text ?? reply.body, { status: reply.status, headers: told })
}
