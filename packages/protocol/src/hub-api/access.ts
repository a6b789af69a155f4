import { z } from "zod"
import { hasUnseen } from "../unseen.ts"
import { Moment, NoBody, type Told } from "./fields.ts"
import type { RouteTable } from "./route-table.ts"

const Role = z.enum(["viewer", "operator", "admin", "agent", "runner"])
export type Role = z.output<typeof Role>

const NewToken = z
  .strictObject({
    role: z.enum(["viewer", "operator", "admin", "runner"], {
      error:
        'expected "viewer", "operator", "admin" or "runner" (an agent\'s token comes with a session of agent "external")',
    }),
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .refine((name) => !hasUnseen(name) && !/[\t\n]/.test(name), {
        error: "expected a name on one line, without characters that cannot be seen",
      })
      .exactOptional(),
    expiresAt: z.iso
      .datetime({ offset: true, error: "expected a time such as 2031-01-31T12:00:00Z" })
      .transform((moment) => new Date(moment).toISOString())
      .exactOptional(),
  })
  .meta({ id: "NewToken" })
export type NewToken = Told<z.output<typeof NewToken>>

const Token = z
  .object({
    id: z.string(),
    role: Role,
    name: z.string().nullable(),
    /** The one session that an agent's token may connect as. */
    sessionId: z.string().nullable(),
    createdAt: Moment,
    expiresAt: Moment.nullable(),
    revokedAt: Moment.nullable(),
  })
  .meta({ id: "Token" })
export type Token = Told<z.output<typeof Token>>

const CreatedToken = z
  .object({ ...Token.shape, token: z.string().meta({ description: "told this once only" }) })
  .meta({ id: "CreatedToken" })
export type CreatedToken = Told<z.output<typeof CreatedToken>>

const secret = z.string().min(1).max(1_000)
const Login = z
  .union([z.strictObject({ token: secret }), z.strictObject({ code: secret })], {
    error: 'expected {"token":"…"} or {"code":"…"}',
  })
  .meta({ id: "Login" })
export type Login = Told<z.output<typeof Login>>

const Me = z
  .object({
    role: z.enum(["viewer", "operator", "admin"]),
    name: z.string(),
    now: Moment.meta({ description: "The hub's clock. Every time the hub tells is by it." }),
  })
  .meta({ id: "Me" })
export type Me = Told<z.output<typeof Me>>

const SignedInBrowser = z
  .object({
    id: z.string(),
    /** The token that it signed in with. */
    tokenId: z.string(),
    /** The token's owner. */
    name: z.string(),
    role: z.enum(["viewer", "operator", "admin"]),
    createdAt: Moment.nullable().meta({ description: "Null when an older hub signed it in." }),
    expiresAt: Moment,
    browser: z.string().nullable().meta({ description: "The `User-Agent` that it signed in with." }),
    current: z.boolean().meta({ description: "It is the one that asks." }),
  })
  .meta({ id: "SignedInBrowser" })
export type SignedInBrowser = Told<z.output<typeof SignedInBrowser>>

export const accessRoutes = {
  "POST /api/tokens": {
    access: "admin",
    summary: "Make a token",
    body: NewToken,
    status: 201,
    reply: CreatedToken,
    replies: "the token, its secret this once only",
  },
  "GET /api/tokens": {
    access: "admin",
    summary: "The tokens, without their secrets",
    reply: z.object({ tokens: z.array(Token), more: z.boolean() }),
    replies: "the tokens",
  },
  "DELETE /api/tokens/:id": {
    access: "admin",
    summary: "Revoke a token and close its open connections",
    reply: Token,
    replies: "the token",
  },
  "POST /api/login": {
    access: "anybody",
    summary: "Sign a browser in, with a token or a single-use code",
    body: Login,
    reply: Me,
    replies: "who one is now; the cookie is set",
  },
  "POST /api/logout": {
    access: "anybody",
    summary: "Sign the browser out",
    body: NoBody,
    isBodyOptional: true,
    reply: z.object({ signedOut: z.boolean() }),
    replies: "the cookie is cleared",
  },
  "GET /api/logins": {
    access: "viewer",
    summary: "Signed-in browsers of the caller, an admin's reply has everybody's",
    reply: z.object({ logins: z.array(SignedInBrowser), more: z.boolean() }),
    replies: "the browsers, the latest first",
  },
  "DELETE /api/logins/:id": {
    access: "viewer",
    summary: "Sign a browser out and close its open connections",
    reply: SignedInBrowser,
    replies: "the browser",
  },
  "GET /api/me": { access: "viewer", summary: "Who one is", reply: Me, replies: "role, name and the hub's clock" },
} as const satisfies RouteTable

const page = { access: "anybody", replies: "a page", contentType: "text/html" } as const

export const operationsRoutes = {
  "GET /healthz": {
    access: "anybody",
    summary: "Whether the hub lives",
    reply: z.object({ status: z.literal("ok") }),
    replies: "it does",
  },
  "GET /readyz": {
    access: "anybody",
    summary: "Whether the hub takes work",
    reply: z.object({ status: z.literal("ready") }),
    replies: "it does",
  },
  "GET /metrics": {
    access: "viewer unless loopback",
    summary: "What the hub counts, as Prometheus text",
    replies: "metrics",
    contentType: "text/plain",
  },
  "GET /api/openapi.json": { access: "viewer", summary: "This description", replies: "OpenAPI 3.1" },
  "GET /": { summary: "What this is", ...page },
  "GET /login": { summary: "Signs in with a code in the fragment", ...page },
  "GET /login.js": {
    access: "anybody",
    summary: "The script of that page",
    replies: "a script",
    contentType: "text/javascript",
  },
} as const satisfies RouteTable
