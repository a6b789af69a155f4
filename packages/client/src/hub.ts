import type {
  AskAnswer,
  Login,
  NewRun,
  NewSession,
  NewToken,
  RouteCall,
  RouteQuery,
  RunPatch,
  TaskPatch,
} from "@signalbox/protocol/hub-api"
import type { Backoff } from "@signalbox/protocol/timing"
import type { FollowOptions } from "./follower.ts"
import { openHubSession } from "./hub-session.ts"
import { HubStream } from "./hub-stream.ts"
import { auditRecords, type PolicyTestOptions, TEST_TIMEOUT_MS, testPolicy } from "./policy.ts"
import { type Call, type CallOptions, HubAddresses, type HubUrl, newUuid, Rest } from "./rest.ts"

export interface ConnectOptions {
  /**
   * `http://127.0.0.1:8765`. Of several hubs on one store, all addresses, as a list or with commas between them: the next one is used
   * when one does not answer. A function is asked at each try: a hub may come back elsewhere, and is nowhere meanwhile.
   */
  readonly url: HubUrl | (() => HubUrl | undefined)
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

type PolicyBody = RouteCall<"PUT /api/policy">["body"]

export type Hub = ReturnType<typeof connectHub>
export type HubRunners = Hub["runners"]
export type HubRuns = Hub["runs"]

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_BACKOFF: Backoff = { baseDelayMs: 250, maxDelayMs: 10_000 }
/** A machine may have to start an agent first, and let starts wait for each other. */
const DEFAULT_START_TIMEOUT_MS = 75_000
const DEFAULT_PING_MS = 15_000
const DEFAULT_MAX_WAITING_CHARS = 16 * 1024 * 1024

/** Opens no connection until one is needed. */
export function connectHub(options: ConnectOptions) {
  const addresses = new HubAddresses(options.url, options.token)
  const backoff = { ...DEFAULT_BACKOFF, ...options.reconnect }
  const rest = new Rest({ addresses, backoff, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS })
  const startTimeoutMs = options.timeoutMs ?? DEFAULT_START_TIMEOUT_MS
  const pingMs = options.pingMs ?? DEFAULT_PING_MS
  const maxWaitingChars = options.maxWaitingChars ?? DEFAULT_MAX_WAITING_CHARS
  const stream = new HubStream({ addresses, rest, backoff, pingMs, maxWaitingChars, onRetry: options.onRetry })
  const follow = (key: string, how: FollowOptions) => stream.follow(key, how).items

  return {
    sessions: (query: RouteQuery<"GET /api/sessions"> = {}) => rest.route("GET /api/sessions", { query }),
    /** A repeat with the same `requestKey` is the same session; one is made up where none is given. */
    launch: (request: NewSession = {}) =>
      rest.route("POST /api/sessions", {
        body: { requestKey: newUuid(), ...request },
        repeatable: true,
        timeoutMs: startTimeoutMs,
      }),
    /** One session; nothing is asked of the hub yet. */
    session: (id: string) => openHubSession(id, { rest, follow, startTimeoutMs }),
    /** Changes and asks of all sessions, without their events. */
    watch: (watchOptions: { readonly signal?: AbortSignal } = {}) => follow("*", watchOptions),
    search: (query: RouteQuery<"GET /api/search">, options: CallOptions = {}) =>
      rest.route("GET /api/search", { query, ...options }),

    /** The oldest first, unless `order` says otherwise. */
    asks: async (query: RouteQuery<"GET /api/asks"> = {}) => (await rest.route("GET /api/asks", { query })).asks,
    /** The same, with whether there are more than `limit`. */
    askPage: (query: RouteQuery<"GET /api/asks"> = {}) => rest.route("GET /api/asks", { query }),
    ask: (id: string) => rest.route("GET /api/asks/:id", { params: { id } }),
    /** The first valid answer wins: `ask/settled` means that somebody else's did, and `details.ask` says whose. */
    answer: (askId: string, answer: AskAnswer) =>
      rest.route("POST /api/asks/:id/answer", {
        params: { id: askId },
        body: { answerId: newUuid(), ...answer },
        repeatable: true,
      }),
    /** More time for one that expires. With `expiresAt` as it was seen, two who ask for it get it once. */
    extend: (askId: string, seen: { readonly expiresAt?: string } = {}) =>
      rest.route("POST /api/asks/:id/extend", {
        params: { id: askId },
        body: seen,
        repeatable: seen.expiresAt !== undefined,
      }),

    /** Deletes old sessions that have ended for good; the hub works through them in the background. Again, it does no harm. */
    prune: (how: RouteCall<"POST /api/sessions/prune">["body"]) =>
      rest.route("POST /api/sessions/prune", { body: how, repeatable: true }),
    /** The size of the hub's store. */
    storeSize: (options: CallOptions = {}) => rest.route("GET /api/store", options),

    ...hubWide(rest),
    /** The machines that run agents. */
    runners: hubRunners(rest),
    /** Lists of tasks that programs work through. */
    runs: hubRuns(rest),
    /** The hubs on the same store. */
    hubs: {
      list: async () => (await rest.route("GET /api/hubs")).hubs,
      /** Replaces the secret by which they know each other. */
      rotateSecret: () => rest.route("POST /api/hubs/secret"),
    },

    /** A call that this client has no method for. */
    request: <Reply = unknown>(call: Call): Promise<Reply> => rest.call(call),
    /** The address in use now; fails while there is none. */
    address: () => addresses.now().http,
    /** A lost connection is tried again now: the machine woke up, or its network is back. */
    retryNow: () => stream.retryNow(),
    /** Ends everything: calls under way fail with `client/closed`, what is followed ends. */
    close() {
      rest.close()
      stream.close()
    },
  }
}

/** Who may do what: policy, grants, their history, settings, tokens and logins. */
function hubWide(rest: Rest) {
  return {
    /** The rules in force. */
    policy: () => rest.route("GET /api/policy"),
    /**
     * `policy/contradicts` means that it would allow what people denied: `details.contradicts` says what, `force` puts it all the same.
     * With the `version` that was read, `policy/changed` means that somebody else changed it since; nothing was put.
     */
    setPolicy: (policy: PolicyBody, query: RouteQuery<"PUT /api/policy"> = {}) =>
      rest.route("PUT /api/policy", { body: policy, query }),
    /** Tells how a policy would have decided the requests of the past. Nothing is changed. */
    testPolicy: (policy: PolicyBody, options: PolicyTestOptions = {}) => testPolicy(rest, policy, options),
    /** One request, judged by a policy or by the one in force. */
    explainPolicy: (question: RouteCall<"POST /api/policy/explain">["body"]) =>
      rest.route("POST /api/policy/explain", { body: question, repeatable: true }),
    /** Rules for what people always allow, and rules in force that do nothing. None is applied. */
    policySuggestions: (query: RouteQuery<"GET /api/policy/suggestions"> = {}, options: CallOptions = {}) =>
      rest.route("GET /api/policy/suggestions", { query, timeoutMs: TEST_TIMEOUT_MS, ...options }),
    /** Policies that were in force, newest first, without their rules. */
    policyVersions: (query: RouteQuery<"GET /api/policy/versions"> = {}) =>
      rest.route("GET /api/policy/versions", { query }),
    policyVersion: (version: number) => rest.route("GET /api/policy/versions/:n", { params: { n: `${version}` } }),
    /** Standing permissions. */
    grants: (query: RouteQuery<"GET /api/grants"> = {}) => rest.route("GET /api/grants", { query }),
    /** `gone`: false when it is only noted, because the CLI cannot take it back. */
    revokeGrant: (id: string) => rest.route("DELETE /api/grants/:id", { params: { id } }),
    /** Who or what decided, when, and why. */
    audit: (query: RouteQuery<"GET /api/audit"> = {}) => rest.route("GET /api/audit", { query }),
    /** The same, page after page until there is no more. */
    auditRecords: (query: RouteQuery<"GET /api/audit"> = {}) => auditRecords(rest, query),
    settings: () => rest.route("GET /api/settings"),
    /** A field that is left out gets its default. */
    setSettings: (settings: RouteCall<"PUT /api/settings">["body"]) =>
      rest.route("PUT /api/settings", { body: settings }),
    tokens: {
      list: () => rest.route("GET /api/tokens"),
      /** Not repeated: a second one would be another token. Its secret is in this reply only. */
      create: (token: NewToken) => rest.route("POST /api/tokens", { body: token }),
      /** Closes its open connections, too. */
      revoke: (id: string) => rest.route("DELETE /api/tokens/:id", { params: { id }, repeatable: true }),
    },
    /** Signed-in browsers: one's own; for an admin everybody's. */
    logins: {
      list: async () => (await rest.route("GET /api/logins")).logins,
      /** Signs it out, and closes its open connections. */
      end: (id: string) => rest.route("DELETE /api/logins/:id", { params: { id } }),
    },
    me: (options: CallOptions = {}) => rest.route("GET /api/me", options),
    /** Signs this browser in. */
    login: (credential: Login) => rest.route("POST /api/login", { body: credential }),
    logout: () => rest.route("POST /api/logout"),
    health: () => rest.route("GET /healthz"),
    ready: () => rest.route("GET /readyz"),
    openApi: () => rest.route("GET /api/openapi.json"),
  }
}

function hubRunners(rest: Rest) {
  return {
    /** Those that are away too. */
    list: async () => (await rest.route("GET /api/runners")).runners,
    /** Whether it takes new agents; those that are there go on. */
    async drain(id: string, draining: boolean): Promise<void> {
      await rest.route("PATCH /api/runners/:id", { params: { id }, body: { draining }, repeatable: true })
    },
    /** Only one that is away. */
    async forget(id: string): Promise<void> {
      await rest.route("DELETE /api/runners/:id", { params: { id } })
    },
    /** The last lines of its log, the newest last; only of one that is connected. `more`: there are older ones. */
    log: (id: string, query: RouteQuery<"GET /api/runners/:id/log"> = {}) =>
      rest.route("GET /api/runners/:id/log", { params: { id }, query }),
    /** The folders in a folder of that machine; without a path, where its user begins. */
    folders: (id: string, query: RouteQuery<"GET /api/runners/:id/folders"> = {}) =>
      rest.route("GET /api/runners/:id/folders", { params: { id }, query }),
    /** Conversations that `claude` itself recorded on that machine. */
    recorded: (id: string, query: RouteQuery<"GET /api/runners/:id/sessions"> = {}) =>
      rest.route("GET /api/runners/:id/sessions", { params: { id }, query }),
  }
}

function hubRuns(rest: Rest) {
  return {
    /** Newest first. */
    list: (query: RouteQuery<"GET /api/runs"> = {}) => rest.route("GET /api/runs", { query }),
    /** Not repeated: a second one would be another run. */
    create: (run: NewRun) => rest.route("POST /api/runs", { body: run }),
    get: (id: string) => rest.route("GET /api/runs/:id", { params: { id } }),
    change: (id: string, change: RunPatch) =>
      rest.route("PATCH /api/runs/:id", { params: { id }, body: change, repeatable: true }),
    /** Tasks are counted from 1. */
    changeTask: (id: string, number: number, change: TaskPatch) =>
      rest.route("PATCH /api/runs/:id/tasks/:n", { params: { id, n: `${number}` }, body: change, repeatable: true }),
  }
}
