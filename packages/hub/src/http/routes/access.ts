import {
  CreatedToken,
  LoginBody,
  Me,
  NewTokenBody,
  NoBody,
  SignedOut,
  Token,
  TokenList,
} from "@signalbox/protocol/hub-api/schemas"
import type { Authority } from "../../auth/authority.ts"
import { HubError } from "../../errors.ts"
import type { TokenRecord } from "../../model/access.ts"
import { jsonReply } from "../reply.ts"
import { openRoute, type Route, route, SMALL_BODY_BYTES } from "../route.ts"

const MAX_LISTED = 1_000

export function accessRoutes(authority: Authority): Route[] {
  return [...tokenRoutes(authority), ...loginRoutes(authority)]
}

function tokenRoutes({ tokens }: Authority): Route[] {
  return [
    route({
      method: "POST",
      path: "/api/tokens",
      access: "admin",
      summary: "Make a token",
      body: { schema: NewTokenBody, maxBytes: SMALL_BODY_BYTES },
      reply: { status: 201, description: "the token, its secret this once only", schema: CreatedToken },
      async handle({ body, caller }) {
        if (!tokens.isAhead(body.expiresAt)) {
          throw new HubError("request/invalid", "body.expiresAt: expected a time that is yet to come")
        }
        const { record, secret } = await tokens.create(body, caller.name)
        return { ...publicToken(record), token: secret }
      },
    }),
    route({
      method: "GET",
      path: "/api/tokens",
      access: "admin",
      summary: "The tokens, without their secrets",
      reply: { status: 200, description: "the tokens", schema: TokenList },
      handle() {
        // Every agent that was started by hand had one: the newest are what somebody looks for.
        const all = tokens.list()
        return { tokens: all.slice(-MAX_LISTED).map(publicToken), more: all.length > MAX_LISTED }
      },
    }),
    route({
      method: "DELETE",
      path: "/api/tokens/:id",
      access: "admin",
      summary: "Revoke a token and close its open connections",
      reply: { status: 200, description: "the token", schema: Token },
      handle: async ({ param, caller }) => publicToken(await tokens.revoke(param("id"), caller.name)),
    }),
  ]
}

function loginRoutes(authority: Authority): Route[] {
  return [
    openRoute({
      method: "POST",
      path: "/api/login",
      access: "anybody",
      summary: "Sign a browser in, with a token or a single-use code",
      body: { schema: LoginBody, maxBytes: SMALL_BODY_BYTES },
      reply: { status: 200, description: "who one is now; the cookie is set", schema: Me },
      async handle({ body, facts }) {
        const { caller, cookie } = await authority.login(body, facts)
        return withCookie(jsonReply(200, { role: caller.role, name: caller.name }), cookie)
      },
    }),
    openRoute({
      method: "POST",
      path: "/api/logout",
      access: "anybody",
      summary: "Sign the browser out",
      body: { schema: NoBody, maxBytes: SMALL_BODY_BYTES, optional: true },
      reply: { status: 200, description: "the cookie is cleared", schema: SignedOut },
      handle: async ({ facts }) => withCookie(jsonReply(200, { signedOut: true }), await authority.logout(facts)),
    }),
    route({
      method: "GET",
      path: "/api/me",
      access: "viewer",
      summary: "Who one is",
      reply: { status: 200, description: "role and name", schema: Me },
      handle: ({ caller }) => ({ role: caller.role, name: caller.name }),
    }),
  ]
}

function withCookie(reply: Response, cookie: string): Response {
  reply.headers.append("set-cookie", cookie)
  return reply
}

function publicToken({ hash: _hash, ...rest }: TokenRecord): Omit<TokenRecord, "hash"> {
  return rest
}
