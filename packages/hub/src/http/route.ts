import type { z } from "zod"
import type { RequestFacts } from "../auth/request-facts.ts"
import type { Access } from "../auth/roles.ts"
import type { Caller } from "../model/access.ts"
import { jsonReply } from "./reply.ts"

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** What every call of a route comes with, checked. */
interface Call<B, Q> {
  readonly facts: RequestFacts
  readonly request: Request
  readonly body: B
  readonly query: Q
  /** A part of the path, by its name in it. */
  readonly param: (name: string) => string
  /** Says how much of the reply the hub will hold at once. Throws `hub/busy` when there is no room for it. */
  readonly reserve: (bytes: number) => void
}

/** A call of somebody who is known and may make it. */
interface CallByCaller<B, Q> extends Call<B, Q> {
  readonly caller: Caller
}

/** As the app makes it: body and query went through the schemas of the route. */
interface RawCall extends Call<unknown, unknown> {
  readonly caller: Caller | null
}

interface BodyRule<B extends z.ZodType = z.ZodType> {
  readonly schema: B
  readonly maxBytes: number
  /** No body at all counts as `{}`. */
  readonly optional?: boolean
}

interface ReplyRule {
  readonly status: number
  readonly description: string
  /** None for what is not JSON. */
  readonly schema?: z.ZodType
  readonly contentType?: string
}

interface RouteFacts<B extends z.ZodType, Q extends z.ZodType> {
  readonly method: Method
  /** As in `/api/sessions/:id`. */
  readonly path: string
  readonly summary: string
  readonly body?: BodyRule<B>
  readonly query?: Q
  readonly reply: ReplyRule
}

/** One route, declared once: the app serves it, the OpenAPI document describes it, the tests go through the list. */
export interface Route extends RouteFacts<z.ZodType, z.ZodType> {
  /** "anybody": but for Host and Origin. */
  readonly access: Access | "anybody" | "viewer unless loopback"
  handle(call: RawCall): Promise<Response>
}

interface Guarded<B extends z.ZodType, Q extends z.ZodType> extends RouteFacts<B, Q> {
  readonly access: Access
  /** What it returns is the reply's JSON, unless it is a whole reply. */
  handle(call: CallByCaller<z.output<B>, z.output<Q>>): unknown
}

interface Open<B extends z.ZodType> extends RouteFacts<B, z.ZodType> {
  readonly access: "anybody" | "viewer unless loopback"
  handle(call: Call<z.output<B>, unknown>): unknown
}

export const SMALL_BODY_BYTES = 64 * 1024
export const BODY_BYTES = 1024 * 1024
export const LARGE_BODY_BYTES = 10 * 1024 * 1024

/** A route for callers of a role. Ties the types of body and query to their schemas. */
export function route<B extends z.ZodType = z.ZodUndefined, Q extends z.ZodType = z.ZodUndefined>(
  declared: Guarded<B, Q>,
): Route {
  return {
    ...declared,
    async handle(call) {
      if (call.caller === null) throw new Error(`${declared.method} ${declared.path} was called by nobody`)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app validated both with this route's schemas
      return replyOf(declared, await declared.handle(call as CallByCaller<z.output<B>, z.output<Q>>))
    },
  }
}

/** A route that needs no token. */
export function openRoute<B extends z.ZodType = z.ZodUndefined>(declared: Open<B>): Route {
  return {
    ...declared,
    async handle(call) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      return replyOf(declared, await declared.handle(call as Call<z.output<B>, unknown>))
    },
  }
}

function replyOf(declared: { reply: ReplyRule }, value: unknown): Response {
  return value instanceof Response ? value : jsonReply(declared.reply.status, value)
}
