import type { Authority } from "../auth/authority.ts"
import { HubError } from "../errors.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { ClientPort } from "./client-port.ts"
import { type ClientHouse, RawClient } from "./raw-client.ts"
import { type Guest, SocketDoor } from "./socket-door.ts"

export interface SessionSocketDoorOptions {
  readonly house: ClientHouse
  readonly authority: Authority
  readonly metrics: HubMetrics
  readonly maxClients?: number
  readonly maxWaitingChars?: number
}

const PATH = /^\/ws\/session\/([^/]+)$/

export function isSessionSocket(path: string): boolean {
  return PATH.test(path)
}

/** `/ws/session/:id`: clients that speak the host's side of the wire to one session. */
export function createSessionSocketDoor({ house, ...options }: SessionSocketDoorOptions): SocketDoor {
  const sessionAt = (path: string) => findSession(house.registry, PATH.exec(path)?.[1] ?? "")
  return new SocketDoor({
    ...options,
    door: "session",
    check: (path) => void sessionAt(path),
    welcome({ caller, port, path }) {
      const session = sessionAt(path)
      if (session.isEnded) return turnAway(port)
      const client = new RawClient({ house, session, caller, port, follows: true })
      client.showInProgress()
      return client
    },
  })
}

function turnAway(port: ClientPort): Guest {
  port.end(1000, "the session is over")
  return { take: () => Promise.resolve(), close: () => undefined }
}

/** An id means the newest session of its chain: the conversation, wherever it went on. */
function findSession(registry: SessionRegistry, segment: string): LiveSession {
  const id = decodeSegment(segment)
  const session = registry.newestOf(id)
  if (session === undefined) throw new HubError("session/unknown", `there is no session ${id}`)
  return session
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
