import type { BacktestLine, Token } from "@signalbox/protocol/hub-api"
import type { ROUTES } from "@signalbox/protocol/hub-api/schemas"
import { publicAsk } from "../asks/whole-ask.ts"
import type { Authority } from "../auth/authority.ts"
import { launchRefusal, mayAnswer, mayControl } from "../auth/roles.ts"
import { asHubError, HubError } from "../errors.ts"
import type { HubCore } from "../hub-core.ts"
import { type Caller, isActor, type TokenRecord } from "../model/access.ts"
import type { Ask } from "../model/ask.ts"
import { resultOf } from "../policy-tests.ts"
import type { Handlers } from "./app.ts"
import { loginScript, plainPage } from "./cockpit.ts"
import { AHEAD_BYTES, eventPageJson, jsonReply, pageJson, streamReply } from "./reply.ts"

export interface HandlerOptions {
  readonly core: HubCore
  readonly authority: Authority
  /** Why the hub is not ready, in words; undefined when it is. */
  readonly notReady: () => string | undefined
  readonly metrics: { text(): Promise<string>; readonly contentType: string }
  readonly openApi: () => unknown
}

const MAX_LISTED_TOKENS = 1_000
const RUNNER_TIMEOUT_MS = 30_000

/** A handler for each route of the table. Who may call it was decided before, but for what depends on the call itself. */
export function handlersOf(options: HandlerOptions): Handlers<typeof ROUTES> {
  const { core, authority } = options
  return {
    ...sessionHandlers(core),
    ...askHandlers(core),
    ...policyHandlers(core),
    ...runnerHandlers(core),
    ...hubHandlers(core),
    ...accessHandlers(core, authority),
    ...operationsHandlers(options),
  }
}

/** Sessions, the messages to them and the events in them. */
function sessionHandlers(core: HubCore) {
  return {
    "POST /api/sessions"({ body, caller }) {
      const refusal = launchRefusal(caller.role, body, core.settings.settings)
      if (refusal !== undefined) throw new HubError("auth/forbidden", refusal)
      return core.createSession(body, caller)
    },
    async "GET /api/sessions"({ query, caller }) {
      const page = await core.listSessions(query)
      const ids = page.sessions.map(({ id }) => id)
      return { ...page, read: await core.readMarks(ids, caller) }
    },
    "GET /api/sessions/:id": ({ params }) => core.getSession(params.id),
    "PATCH /api/sessions/:id": ({ params, body }) => core.patchSession(params.id, body),
    async "GET /api/sessions/:id/read"({ params, caller }) {
      const { id } = await core.getSession(params.id)
      return { seq: (await core.readMarks([id], caller))[id] ?? 0 }
    },
    "PUT /api/sessions/:id/read": async ({ params, body, caller }) => ({
      seq: await core.markRead(params.id, body.seq, caller),
    }),
    async "DELETE /api/sessions/:id"({ params, query, caller }) {
      if (!query.purge) return core.endSession(params.id, caller)
      if (caller.role !== "admin") throw new HubError("auth/forbidden", "Purging a session needs an admin token")
      await core.retention.purge(params.id, { by: caller.name, via: "person" })
      return new Response(null, { status: 204 })
    },
    "POST /api/sessions/prune": ({ body, caller }) => core.retention.prune(body, { by: caller.name, via: "person" }),
    "GET /api/store": () => core.retention.size(),
    "DELETE /api/sessions/:id/worktree": ({ params }) => core.removeWorktree(params.id),

    "POST /api/sessions/:id/messages": ({ params, body, caller }) => core.sendMessage(params.id, body, caller),
    "DELETE /api/sessions/:id/messages/:uuid": ({ params, caller }) =>
      core.cancelMessage(params.id, params.uuid, caller),
    "POST /api/sessions/:id/interrupt": ({ params, caller }) => core.interrupt(params.id, caller),
    "POST /api/sessions/:id/control"({ params, body, caller }) {
      if (!mayControl(caller.role, body.request, core.settings.settings)) throw controlForbidden(body.request)
      return core.control(params.id, body, caller)
    },
    "POST /api/sessions/:id/env": ({ params, body, caller }) => core.setEnvironment(params.id, body.variables, caller),

    async "GET /api/sessions/:id/events"({ params, query, reserve }) {
      const fromStart = query.before === undefined && query.around === undefined && query.after === undefined
      const page = await core.readEvents(params.id, fromStart ? { ...query, after: 0 } : query)
      reserve(page.largestPieceBytes + AHEAD_BYTES)
      return streamReply(200, eventPageJson(page))
    },
    async "GET /api/sessions/:id/outline"({ params, reserve }) {
      const entries = await core.outline(params.id)
      reserve(AHEAD_BYTES)
      return streamReply(200, pageJson("marks", { entries }))
    },
    "GET /api/search": ({ query: { in: fields, ...query } }) =>
      core.search({ ...query, ...(fields === undefined ? {} : { fields }) }),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

function controlForbidden(request: { subtype: string }): HubError {
  const what = request.subtype === "set_permission_mode" ? "This permission mode" : `"${request.subtype}"`
  return new HubError("auth/forbidden", `${what} needs an admin token`)
}

function askHandlers(core: HubCore) {
  return {
    async "GET /api/asks"({ query: { order, ...filter }, reserve }) {
      const page = await core.listAsks({ ...filter, newestFirst: order === "newest" })
      reserve(page.largestBytes + AHEAD_BYTES)
      return streamReply(200, pageJson("asks", page, publicAsk))
    },
    "GET /api/asks/:id": async ({ params }) => publicAsk(await core.getAsk(params.id)),
    async "POST /api/asks/:id/answer"({ params, body, caller }) {
      const { inputHash, answerId, ...answer } = body
      if (!mayAnswer(caller.role, answer, core.settings.settings)) {
        throw new HubError("auth/forbidden", "A permission mode without questions needs an admin token")
      }
      const onlySuggested = caller.role !== "admin"
      const how = { by: caller.name, via: "person", inputHash, answerId, onlySuggested } as const
      return publicAsk(await core.asks.answer(params.id, answer, how).catch(hidePrivateParts))
    },
    "POST /api/asks/:id/extend": async ({ params, body, caller }) =>
      publicAsk(await core.asks.extend(params.id, { by: caller.name, ...body }).catch(hidePrivateParts)),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

/** The rules in force, the permissions that people gave, what was decided by either, and the settings. */
function policyHandlers(core: HubCore) {
  const { policy, policyTests, grants, settings } = core
  return {
    // The policy's own schema checked its rules; here they are only passed on.
    "GET /api/policy": () => jsonReply(200, policy.told),
    async "PUT /api/policy"({ body, query, caller, request }) {
      await policyTests.put(body, { by: caller.name, ...query }, request.signal)
      return jsonReply(200, policy.told)
    },
    async "POST /api/policy/test"({ body, request }) {
      const steps = policyTests.test(body, request.signal)
      const wantsLines = request.headers.get("accept")?.includes(NDJSON) === true
      return wantsLines ? streamReply(200, testLines(steps), NDJSON) : resultOf(steps)
    },
    "POST /api/policy/explain": async ({ body }) => jsonReply(200, await policyTests.explain(body)),
    "GET /api/policy/suggestions": ({ query, request }) => policyTests.suggestions(query, request.signal),
    "GET /api/policy/versions": ({ query }) => policy.versions(query),
    "GET /api/policy/versions/:n": ({ params }) => policy.version(versionNumber(params.n)),
    "GET /api/grants": async ({ query }) => ({ grants: await grants.list(query), more: false }),
    "DELETE /api/grants/:id": ({ params, caller }) => core.revokeGrant(params.id, caller),
    async "GET /api/audit"({ query: { order, ...filter }, reserve }) {
      const page = await core.listAudit({ ...filter, newestFirst: order === "newest" })
      reserve(page.largestBytes + AHEAD_BYTES)
      return streamReply(200, pageJson("records", page))
    },
    "GET /api/settings": () => settings.settings,
    "PUT /api/settings": ({ body, caller }) => settings.put(body, caller.name),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

const NDJSON = "application/x-ndjson"

/** A failure before the first line is an error reply; a later one is the last line. */
async function* testLines(steps: AsyncIterable<BacktestLine>): AsyncGenerator<string> {
  const line = (value: BacktestLine) => `${JSON.stringify(value)}\n`
  let hasBegun = false
  try {
    for await (const step of steps) {
      yield line(step)
      hasBegun = true
    }
  } catch (error) {
    if (!hasBegun) throw error
    const { code, message } = asHubError(error)
    yield line({ error: { code, message } })
  }
}

/** Machines, whose replies are relayed as they came, and the lists of tasks that programs work through. */
function runnerHandlers(core: HubCore) {
  const { runners, runs } = core
  return {
    async "GET /api/runners"() {
      // A launch on another hub finds what is listed here.
      await runners.shared()
      return { runners: runners.list(), more: false }
    },
    "PATCH /api/runners/:id": ({ params, body, caller }) => core.changeRunner(params.id, body, caller),
    "DELETE /api/runners/:id": ({ params, caller }) => core.forgetRunner(params.id, caller),
    "GET /api/runners/:id/folders": async ({ params, query }) =>
      jsonReply(200, await runners.request(params.id, { kind: "folders", ...query }, RUNNER_TIMEOUT_MS)),
    async "GET /api/runners/:id/sessions"({ params, query }) {
      const sessions = await runners.request(params.id, { kind: "sessions", ...query }, RUNNER_TIMEOUT_MS)
      // A list is under its name, as all lists are.
      return jsonReply(200, Array.isArray(sessions) ? { sessions, more: false } : sessions)
    },
    "GET /api/runners/:id/log": async ({ params, query }) =>
      jsonReply(200, await runners.request(params.id, { kind: "log", ...query }, RUNNER_TIMEOUT_MS)),

    "POST /api/runs": ({ body, caller }) => runs.create(body, caller.name),
    "GET /api/runs": ({ query }) => runs.list(query.limit),
    "GET /api/runs/:id": ({ params }) => runs.get(params.id),
    "PATCH /api/runs/:id": ({ params, body }) => runs.change(params.id, body),
    "PATCH /api/runs/:id/tasks/:n": ({ params, body }) => runs.changeTask(params.id, taskNumber(params.n), body),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

/** Hubs on the same store. */
function hubHandlers({ hubs }: HubCore) {
  return {
    "GET /api/hubs": () => ({ hubs: [...hubs.list()] }),
    "POST /api/hubs/secret": ({ caller }) => hubs.rotateSecret(caller.name),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

/** Tokens and logins. */
function accessHandlers(core: HubCore, authority: Authority) {
  const { tokens } = authority
  const meOf = ({ role, name }: Caller) => ({ role, name, now: core.now })
  return {
    async "POST /api/tokens"({ body, caller }) {
      if (!tokens.isAhead(body.expiresAt)) {
        throw new HubError("request/invalid", "body.expiresAt: expected a time that is yet to come")
      }
      if (body.name !== undefined && isActor(body.name)) {
        throw new HubError(
          "request/invalid",
          `body.name: "${body.name}" is how the hub names itself and its rules: choose another name`,
        )
      }
      const { record, secret } = await tokens.create(body, caller.name)
      return { ...publicToken(record), token: secret }
    },
    async "GET /api/tokens"() {
      // Every agent that was started by hand had one: the newest are what somebody looks for.
      const all = await tokens.list(MAX_LISTED_TOKENS + 1)
      return { tokens: all.slice(-MAX_LISTED_TOKENS).map(publicToken), more: all.length > MAX_LISTED_TOKENS }
    },
    "DELETE /api/tokens/:id": async ({ params, caller }) => publicToken(await tokens.revoke(params.id, caller.name)),
    async "POST /api/login"({ body, facts }) {
      const { caller, cookie } = await authority.login(body, facts)
      return withCookie(jsonReply(200, meOf(caller)), cookie)
    },
    "POST /api/logout": async ({ facts }) =>
      withCookie(jsonReply(200, { signedOut: true }), await authority.logout(facts)),
    "GET /api/logins": ({ caller }) => ({ logins: authority.listLogins(caller), more: false }),
    "DELETE /api/logins/:id": ({ params, caller }) => authority.endLogin(params.id, caller),
    "GET /api/me": ({ caller }) => jsonReply(200, meOf(caller)),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

/** Routes for those who run the hub, and the pages that stand where there is no cockpit. */
function operationsHandlers({ notReady, metrics, openApi }: HandlerOptions) {
  return {
    "GET /healthz": () => ({ status: "ok" }) as const,
    "GET /readyz"() {
      const reason = notReady()
      if (reason !== undefined) throw new HubError("hub/stopping", reason)
      return { status: "ready" } as const
    },
    "GET /metrics": async () =>
      new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } }),
    "GET /api/openapi.json": () => openApi(),
    "GET /": plainPage,
    "GET /login": plainPage,
    "GET /login.js": loginScript,
  } satisfies Partial<Handlers<typeof ROUTES>>
}

function withCookie(reply: Response, cookie: string): Response {
  reply.headers.append("set-cookie", cookie)
  return reply
}

function publicToken({ hash: _hash, ...rest }: TokenRecord): Token {
  return rest
}

/** A refusal shows the ask it is about, and that one too without what only the hub needs. */
function hidePrivateParts(error: unknown): never {
  if (!(error instanceof HubError) || !isAsk(error.details["ask"])) throw error
  const details = { ...error.details, ask: publicAsk(error.details["ask"]) }
  throw new HubError(error.code, error.message, { cause: error, details })
}

/** Only asks have an incarnation, among everything that the core puts into an error. */
function isAsk(value: unknown): value is Ask {
  return typeof value === "object" && value !== null && "incarnation" in value
}

function versionNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new HubError("policy/unknown-version", `a version is a number, from 1 on, not "${text}"`)
}

function taskNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new HubError("run/unknown", `a task is named by its number, from 1 on, not by "${text}"`)
}
