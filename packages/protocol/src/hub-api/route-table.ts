import type { z } from "zod"
import type { Told } from "./fields.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** The roles that people and programs have, each with all that the one before it may. */
export type Access = "viewer" | "operator" | "admin"

/** A route is declared once: the hub serves it, the OpenAPI document describes it, and the client has its types from it. */
export interface RouteRule {
  /** "anybody": Host and Origin are still checked. */
  readonly access: Access | "anybody" | "viewer unless loopback"
  readonly summary: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** Left out: `SMALL_BODY_BYTES`. */
  readonly maxBodyBytes?: number
  /** No body at all counts as `{}`. */
  readonly isBodyOptional?: true
  /** Left out: 200. */
  readonly status?: number
  /** The reply in words. */
  readonly replies: string
  /** Left out for a reply that is not JSON. */
  readonly reply?: z.ZodType
  /** Left out: JSON. */
  readonly contentType?: string
}

/** By method and path, as in `GET /api/sessions/:id`. */
export type RouteTable = Readonly<Record<`${Method} /${string}`, RouteRule>>

export const SMALL_BODY_BYTES = 64 * 1024
export const BODY_BYTES = 1024 * 1024
export const LARGE_BODY_BYTES = 10 * 1024 * 1024

/** The names of the parts of a path: "id" | "uuid". */
export type ParamsOf<Name> = Name extends `${string}:${infer Param}/${infer Rest}`
  ? Param | ParamsOf<Rest>
  : Name extends `${string}:${infer Param}`
    ? Param
    : never

/** A caller's input to a call: the parts of the path, the query in its own types, the body. */
export type CallOf<Name, Rule> = ([ParamsOf<Name>] extends [never]
  ? unknown
  : { readonly params: Readonly<Record<ParamsOf<Name>, string>> }) &
  (Rule extends { readonly query: infer Query extends z.ZodType } ? QueryIn<QueryOf<Query>> : unknown) &
  (Rule extends { readonly body: infer Body extends z.ZodType }
    ? Rule extends { readonly isBodyOptional: true }
      ? { readonly body?: Told<z.input<Body>> }
      : { readonly body: Told<z.input<Body>> }
    : unknown)

type QueryIn<Query> = Partial<Query> extends Query ? { readonly query?: Query } : { readonly query: Query }

/** The fields of a query as their meaning, whatever their text looks like. */
type QueryOf<Query extends z.ZodType> = Asked<z.input<Query>, z.output<Query>>
type Asked<Sent, Read> = { readonly [Name in keyof Sent]: Name extends keyof Read ? Told<Read[Name]> : never }

export type ReplyOf<Rule> = Rule extends { readonly reply: infer Reply extends z.ZodType }
  ? Told<z.output<Reply>>
  : unknown
