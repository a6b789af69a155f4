import { z } from "zod"
import { Moment } from "./fields.ts"

const ROLES = ["viewer", "operator", "admin", "agent", "runner"] as const

export const NewTokenBody = z
  .strictObject({
    role: z.enum(["viewer", "operator", "admin", "runner"], {
      error:
        'expected "viewer", "operator", "admin" or "runner" (an agent\'s token comes with a session of agent "external")',
    }),
    name: z.string().trim().min(1).max(100).exactOptional(),
    expiresAt: z.iso
      .datetime({ offset: true, error: "expected a time such as 2031-01-31T12:00:00Z" })
      .transform((moment) => new Date(moment).toISOString())
      .exactOptional(),
  })
  .meta({ id: "NewToken" })

export const Token = z
  .object({
    id: z.string(),
    role: z.enum(ROLES),
    name: z.string().nullable(),
    sessionId: z.string().nullable(),
    createdAt: Moment,
    expiresAt: Moment.nullable(),
    revokedAt: Moment.nullable(),
  })
  .meta({ id: "Token" })

export const CreatedToken = z
  .object({ ...Token.shape, token: z.string().meta({ description: "told this once only" }) })
  .meta({ id: "CreatedToken" })

export const TokenList = z.object({ tokens: z.array(Token), more: z.boolean() })

const secret = z.string().min(1).max(1_000)
export const LoginBody = z
  .union([z.strictObject({ token: secret }), z.strictObject({ code: secret })], {
    error: 'expected {"token":"…"} or {"code":"…"}',
  })
  .meta({ id: "Login" })

export const Me = z.object({ role: z.enum(["viewer", "operator", "admin"]), name: z.string() }).meta({ id: "Me" })
export const SignedOut = z.object({ signedOut: z.boolean() })

export const Health = z.object({ status: z.literal("ok") })
export const Readiness = z.object({ status: z.literal("ready") })
