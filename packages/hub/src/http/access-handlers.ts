import type { Token } from "@signalbox/protocol/hub-api"
import type { ROUTES } from "@signalbox/protocol/hub-api/schemas"
import type { Authority } from "../auth/authority.ts"
import { HubError } from "../errors.ts"
import type { TokenRecord } from "../model/access.ts"
import { loginScript, plainPage } from "./cockpit.ts"
import { jsonReply } from "./reply.ts"
import type { Handlers } from "./route.ts"

const MAX_LISTED = 1_000

export interface OperationsOptions {
  /** Why the hub is not ready, in words; undefined when it is. */
  readonly notReady: () => string | undefined
  readonly metrics: { text(): Promise<string>; readonly contentType: string }
  readonly openApi: () => unknown
}

/** Tokens and logins. */
export function accessHandlers(authority: Authority) {
  const { tokens } = authority
  return {
    async "POST /api/tokens"({ body, caller }) {
      if (!tokens.isAhead(body.expiresAt)) {
        throw new HubError("request/invalid", "body.expiresAt: expected a time that is yet to come")
      }
      const { record, secret } = await tokens.create(body, caller.name)
      return { ...publicToken(record), token: secret }
    },
    async "GET /api/tokens"() {
      // Every agent that was started by hand had one: the newest are what somebody looks for.
      const all = await tokens.list(MAX_LISTED + 1)
      return { tokens: all.slice(-MAX_LISTED).map(publicToken), more: all.length > MAX_LISTED }
    },
    "DELETE /api/tokens/:id": async ({ params, caller }) => publicToken(await tokens.revoke(params.id, caller.name)),
    async "POST /api/login"({ body, facts }) {
      const { caller, cookie } = await authority.login(body, facts)
      return withCookie(jsonReply(200, { role: caller.role, name: caller.name }), cookie)
    },
    "POST /api/logout": async ({ facts }) =>
      withCookie(jsonReply(200, { signedOut: true }), await authority.logout(facts)),
    "GET /api/me": ({ caller: { role, name } }) => jsonReply(200, { role, name }),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

/** What whoever runs the hub looks at, and the pages that stand where there is no cockpit. */
export function operationsHandlers({ notReady, metrics, openApi }: OperationsOptions) {
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
