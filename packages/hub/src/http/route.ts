import type { Access, Method, ParamsOf, ReplyOf, RouteRule, RouteTable } from "@signalbox/protocol/hub-api"
import type { z } from "zod"
import type { RequestFacts } from "../auth/request-facts.ts"
import type { Caller } from "../model/access.ts"
import { jsonReply } from "./reply.ts"

/** Every call of a route comes with this. The app checked the caller, and body and query by the route's schemas. */
interface Call {
  readonly facts: RequestFacts
  readonly request: Request
  readonly caller: Caller | null
  readonly body: unknown
  readonly query: unknown
  /** The parts of the path, by their names in it. */
  readonly params: Readonly<Record<string, string>>
  /** Says how much of the reply the hub will hold at once. Throws `hub/busy` when there is no room for it. */
  readonly reserve: (bytes: number) => void
}

/** A line of the route table with the code that serves it. */
export interface Route extends RouteRule {
  readonly method: Method
  /** As in `/api/sessions/:id`. */
  readonly path: string
  handle(call: Call): Promise<Response>
}

interface HandlerCall<Name, Rule> extends Call {
  readonly caller: Rule extends { readonly access: Access } ? Caller : null
  readonly body: Rule extends { readonly body: infer Body } ? z.output<Body> : undefined
  readonly query: Rule extends { readonly query: infer Query } ? z.output<Query> : undefined
  readonly params: Readonly<Record<ParamsOf<Name>, string>>
}

type Reply<Rule> = Response | ReplyOf<Rule>

/** A handler returns the reply's JSON, or a whole reply. */
export type Handlers<Table extends RouteTable> = {
  readonly [Name in keyof Table]: (
    call: HandlerCall<Name, Table[Name]>,
  ) => Reply<Table[Name]> | Promise<Reply<Table[Name]>>
}

/** Joins a table with its handlers, whose types come from its schemas. */
export function routesOf<Table extends RouteTable>(table: Table, handlers: Handlers<Table>): Route[] {
  return Object.entries<RouteRule>(table).map(([name, rule]) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of a table's keys says so
    const [method, path] = name.split(" ") as [Method, string]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app validates each call with this rule's schemas
    const handle = handlers[name as keyof Table] as unknown as (call: Call) => unknown
    return {
      ...rule,
      method,
      path,
      async handle(call) {
        const value = await handle(call)
        return value instanceof Response ? value : jsonReply(rule.status ?? 200, value)
      },
    }
  })
}
