import type { Authority } from "../auth/authority.ts"
import { hasAccess } from "../auth/roles.ts"
import type { Caller } from "../model/access.ts"
import type { AskRecord } from "../model/ask.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { ClientHouse } from "./raw-client.ts"
import { RelayFrontend } from "./relay-frontend.ts"
import { type Guest, SocketDoor } from "./socket-door.ts"

export interface RelayDoorOptions {
  readonly house: ClientHouse
  readonly authority: Authority
  readonly metrics: HubMetrics
  /** On loopback, frontends need no token. */
  readonly anonymousRelay: boolean
  /** The policy's switch: whether questions are answered as a plain relay answers them. */
  readonly isAutoApproving: () => boolean
  readonly watchPolicy: (changed: () => void) => () => void
  readonly trouble: (what: string, error: unknown) => void
  readonly maxClients?: number
  readonly maxWaitingChars?: number
}

/** Known by its path alone, on this machine alone. */
const ANONYMOUS: Caller = { role: "operator", name: "anonymous relay frontend", tokenId: "", sessionId: null }

/** `/ws`: frontends of plain relays, which auto-approve; this one does so only when an admin has switched it on. */
export class RelayDoor {
  readonly #options: RelayDoorOptions
  readonly #door: SocketDoor
  /** Those that may answer, and so expect questions to be answered for them. */
  readonly #frontends = new Set<RelayFrontend>()
  readonly #end: () => void

  constructor(options: RelayDoorOptions) {
    this.#options = options
    const { house, isAutoApproving, watchPolicy, anonymousRelay, ...rest } = options
    this.#door = new SocketDoor({
      ...rest,
      door: "relay",
      check: () => undefined,
      anonymous: (_request, isLoopback) => (anonymousRelay && isLoopback ? ANONYMOUS : undefined),
      welcome: (visit) =>
        this.#welcome(new RelayFrontend({ house, ...visit, isAutoApproving, watchPolicy }), visit.caller),
    })
    this.#end = house.fanOut.watchAll({ asked: (ask) => this.#approve(ask) })
  }

  get count(): number {
    return this.#door.count
  }

  handleUpgrade(...upgrade: Parameters<SocketDoor["handleUpgrade"]>): void {
    this.#door.handleUpgrade(...upgrade)
  }

  close(): void {
    this.#end()
    this.#door.close()
  }

  #welcome(frontend: RelayFrontend, caller: Caller): Guest {
    const { house } = this.#options
    if (hasAccess(caller.role, "operator")) this.#frontends.add(frontend)
    for (const ask of house.asks.pending()) this.#approve(ask)
    return {
      take: (line) => frontend.take(line),
      close: () => {
        this.#frontends.delete(frontend)
        frontend.close()
      },
    }
  }

  /** Only while somebody is here who expects it, only tools that no rule wants a person for, and as the audit shows. */
  #approve(ask: AskRecord): void {
    const { house, isAutoApproving, trouble } = this.#options
    if (this.#frontends.size === 0 || !isAutoApproving()) return
    if (ask.state !== "pending" || ask.kind !== "tool" || ask.rule !== undefined) return
    house.asks
      .answer(ask.id, { behavior: "allow" }, { by: "relay auto-approval", via: "policy" })
      .catch((error: unknown) => trouble("the relay could not approve", error))
  }
}
