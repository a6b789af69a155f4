import { createHash } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { isObject, textOf } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { Forwarded } from "../http/app.ts"
import type { SeenHub } from "../store/cluster-store.ts"
import type { Directory } from "../store/directory.ts"
import type { Fellows } from "./fellows.ts"
import type { Membership } from "./membership.ts"
import type { ClusterOwnership, Home } from "./ownership.ts"

export interface ForwardingOptions {
  readonly directory: Pick<Directory, "getAsk" | "listGrants" | "getSession" | "findSession">
  readonly ownership: Pick<ClusterOwnership, "homeOf">
  readonly membership: Pick<Membership, "id" | "fellows" | "refresh">
  readonly fellows: Pick<Fellows, "fetch">
}

const LOCAL: Home = { kind: "here" }
/** Longer than the longest that a caller may wish for: the hub that does it ends it. */
const TIMEOUT_MS = 150_000
const TRIES = 5
const PAUSE_MS = 100

/** Calls that steer a session go to the hub that has it, and are answered as if they had been made there. */
export class Forwarding {
  readonly #options: ForwardingOptions

  constructor(options: ForwardingOptions) {
    this.#options = options
  }

  /** Undefined: this hub answers it itself. */
  async forward(call: Forwarded): Promise<Response | undefined> {
    if (!isSteering(call)) return undefined
    for (let tries = 1; ; tries++) {
      const home = await this.#homeOf(call)
      if (home.kind !== "fellow") return undefined
      const reply = await this.#ask(home.fellow, call)
      if (reply === undefined) continue
      if (reply.status !== 503 || tries === TRIES) return relayed(reply)
      const text = await reply.text()
      if (!isNotThere(text)) return relayed(reply, text)
      // It has let go of the session a moment ago.
      await pause(tries * PAUSE_MS)
    }
  }

  /** Undefined: the hub has died meanwhile. */
  async #ask(fellow: SeenHub, { method, body, caller, request }: Forwarded): Promise<Response | undefined> {
    const { fellows, membership } = this.#options
    const { pathname, search } = new URL(request.url)
    const call = { method, path: pathname + search, body, caller, signal: request.signal }
    try {
      return await fellows.fetch(fellow, call, TIMEOUT_MS)
    } catch (error) {
      if (!(error instanceof HubError && error.code === "hub/unreachable")) throw error
      await membership.refresh()
      if (membership.fellows.some(({ id }) => id === fellow.id)) throw error
      return undefined
    }
  }

  async #homeOf({ path, params, body }: Forwarded): Promise<Home> {
    const { directory, ownership } = this.#options
    const { id = "" } = params
    if (path.startsWith("/api/sessions/:id")) return ownership.homeOf(id)
    if (path.startsWith("/api/asks/:id")) {
      const ask = await directory.getAsk(id)
      return ask === undefined ? LOCAL : ownership.homeOf(ask.sessionId)
    }
    if (path === "/api/grants/:id") {
      const grant = (await directory.listGrants({ all: true })).find((one) => one.id === id)
      return grant === undefined ? LOCAL : ownership.homeOf(grant.sessionId)
    }
    return this.#homeOfNew(body)
  }

  /** A session that goes on from another is made where that one is, and one with a key always on the same hub: so there is one of it. */
  async #homeOfNew(body: unknown): Promise<Home> {
    const { directory, ownership, membership } = this.#options
    const [key, resume] = [textOf(body, "requestKey"), textOf(body, "resume")]
    const known = key === undefined ? undefined : await directory.findSession({ by: "requestKey", key })
    const source = known ?? (resume === undefined ? undefined : await this.#sessionCalled(resume))
    if (source !== undefined) return ownership.homeOf(source)
    if (key === undefined) return LOCAL
    const [chosen] = membership.fellows.toSorted((one, other) => (weight(one, key) < weight(other, key) ? -1 : 1))
    return chosen === undefined || chosen.id === membership.id ? LOCAL : { kind: "fellow", fellow: chosen }
  }

  async #sessionCalled(name: string): Promise<string | undefined> {
    const { directory } = this.#options
    const chain = new Set<string>()
    let id = (await directory.getSession(name)) === undefined ? undefined : name
    id ??= await directory.findSession({ by: "agentSessionId", key: name })
    while (id !== undefined && !chain.has(id)) {
      chain.add(id)
      id = (await directory.getSession(id))?.record.next
    }
    return [...chain].at(-1)
  }
}

function isSteering({ method, path }: Forwarded): boolean {
  if (method === "GET" || path === "/api/sessions/:id/read") return false
  return path.startsWith("/api/sessions/:id") || path.startsWith("/api/asks/:id") || OTHERS.has(`${method} ${path}`)
}

const OTHERS: ReadonlySet<string> = new Set(["POST /api/sessions", "DELETE /api/grants/:id"])

function weight({ id }: SeenHub, key: string): string {
  return createHash("sha256").update(`${id} ${key}`).digest("hex")
}

/** It was not begun: the session is elsewhere. */
function isNotThere(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && value["isElsewhere"] === true
  } catch {
    return false
  }
}

const TOLD_HEADERS = ["content-type", "retry-after", "allow", "location"]

function relayed(reply: Response, text?: string): Response {
  const told = TOLD_HEADERS.flatMap((name) => {
    const value = reply.headers.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
  return new Response(text ?? reply.body, { status: reply.status, headers: told })
}
