import type { Backoff } from "@signalbox/protocol/timing"
import type { FollowItem, FollowOptions } from "./follower.ts"
import { hubAddress } from "./hub-address.ts"
import type {
  Ask,
  AskAnswer,
  AskState,
  LaunchedSession,
  LaunchRequest,
  SessionPage,
  SessionQuery,
} from "./hub-records.ts"
import { type HubRunners, hubRunners } from "./hub-runners.ts"
import { type HubRuns, hubRuns } from "./hub-runs.ts"
import { type HubSession, openHubSession } from "./hub-session.ts"
import { HubStream } from "./hub-stream.ts"
import { type Call, Rest } from "./rest.ts"
import { newUuid } from "./uuid.ts"

export interface ConnectOptions {
  /** `http://127.0.0.1:8765`. A function is asked at each try: a hub may come back elsewhere, and is nowhere meanwhile. */
  readonly url: string | URL | (() => string | URL | undefined)
  /** In a browser that is signed in, none is needed. */
  readonly token?: string | (() => string | undefined)
  /** How long a call may take. */
  readonly timeoutMs?: number
  readonly reconnect?: Partial<Backoff>
  /** How often the hub is asked for a sign of life. After three times without one it is taken for gone. */
  readonly pingMs?: number
  /** Past this, a reader that does not read is left behind, and is caught up when it does. */
  readonly maxWaitingChars?: number
  /** Told before each try to reach a hub that was lost: 1, 2, and so on. */
  readonly onRetry?: (tries: number) => void
}

interface AskQuery {
  readonly state?: AskState
  readonly session?: string
  readonly order?: "oldest" | "newest"
  readonly limit?: number
}

export interface Hub {
  sessions(query?: SessionQuery): Promise<SessionPage>
  launch(request?: LaunchRequest): Promise<LaunchedSession>
  /** One session; nothing is asked of the hub yet. */
  session(id: string): HubSession
  /** Changes and asks of all sessions, without their events. */
  watch(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<FollowItem, undefined>
  /** The oldest first, unless `order` says otherwise. */
  asks(query?: AskQuery): Promise<readonly Ask[]>
  ask(id: string): Promise<Ask>
  /** The first valid answer wins: `ask/settled` means that somebody else's did, and `details.ask` says whose. */
  answer(askId: string, answer: AskAnswer): Promise<Ask>
  /** More time for one that expires. With `expiresAt` as it was seen, two who ask for it get it once. */
  extend(askId: string, seen?: { readonly expiresAt?: string }): Promise<Ask>
  /** The machines that run agents. */
  readonly runners: HubRunners
  /** Lists of tasks that programs work through. */
  readonly runs: HubRuns
  /** Any other call of the hub's. */
  request<Reply = unknown>(call: Call): Promise<Reply>
  /** A lost connection is tried again now: the machine woke up, or its network is back. */
  retryNow(): void
  /** Ends everything: calls under way fail with `client/closed`, what is followed ends. */
  close(): void
}

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_BACKOFF: Backoff = { baseDelayMs: 250, maxDelayMs: 10_000 }
/** A machine may have to start an agent first, and let starts wait for each other. */
const DEFAULT_START_TIMEOUT_MS = 75_000
const DEFAULT_PING_MS = 15_000
const DEFAULT_MAX_WAITING_CHARS = 16 * 1024 * 1024

/** Opens no connection until one is needed. */
export function connectHub(options: ConnectOptions): Hub {
  const address = hubAddress(options.url, options.token)
  const backoff = { ...DEFAULT_BACKOFF, ...options.reconnect }
  const rest = new Rest({ address, backoff, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS })
  const startTimeoutMs = options.timeoutMs ?? DEFAULT_START_TIMEOUT_MS
  const pingMs = options.pingMs ?? DEFAULT_PING_MS
  const maxWaitingChars = options.maxWaitingChars ?? DEFAULT_MAX_WAITING_CHARS
  const stream = new HubStream({ address, rest, backoff, pingMs, maxWaitingChars, onRetry: options.onRetry })
  const follow = (key: string, how: FollowOptions) => stream.follow(key, how).items

  return {
    sessions: (query = {}) => rest.call({ method: "GET", path: "/api/sessions", query, repeatable: true }),
    launch: (request = {}) =>
      rest.call({
        method: "POST",
        path: "/api/sessions",
        body: { requestKey: newUuid(), ...request },
        repeatable: true,
        timeoutMs: startTimeoutMs,
      }),
    session: (id) => openHubSession(id, { rest, follow, startTimeoutMs }),
    watch: (watchOptions = {}) => follow("*", watchOptions),
    async asks(query = {}) {
      const reply = await rest.call<{ asks: readonly Ask[] }>({
        method: "GET",
        path: "/api/asks",
        query,
        repeatable: true,
      })
      return reply.asks
    },
    ask: (id) => rest.call({ method: "GET", path: `/api/asks/${encodeURIComponent(id)}`, repeatable: true }),
    answer: (askId, answer) =>
      rest.call({
        method: "POST",
        path: `/api/asks/${encodeURIComponent(askId)}/answer`,
        body: { answerId: newUuid(), ...answer },
        repeatable: true,
      }),
    extend: (askId, seen = {}) =>
      rest.call({
        method: "POST",
        path: `/api/asks/${encodeURIComponent(askId)}/extend`,
        body: seen,
        repeatable: seen.expiresAt !== undefined,
      }),
    runners: hubRunners(rest),
    runs: hubRuns(rest),
    request: (call) => rest.call(call),
    retryNow: () => stream.retryNow(),
    close() {
      rest.close()
      stream.close()
    },
  }
}
