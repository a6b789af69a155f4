import type { CallOf, ReplyOf } from "./route-table.ts"
import type { ROUTES } from "./schemas.ts"

/** The hub's contract without its schemas: types, error codes and the stream's lines. Nothing here loads zod. */
export type * from "./access.ts"
export type * from "./ask.ts"
export { AUDIT_CSV_HEAD, auditCsvLine } from "./audit-csv.ts"
export { AUDIT_OUTCOMES } from "./audit-outcomes.ts"
export type * from "./backtest.ts"
export { API_ERRORS, type ApiErrorCode } from "./error-codes.ts"
export type * from "./event.ts"
export type * from "./hub.ts"
export type * from "./launch.ts"
export type * from "./message.ts"
export type * from "./policy.ts"
export type * from "./retention.ts"
export type { Access, Method, ParamsOf, ReplyOf, RouteRule, RouteTable } from "./route-table.ts"
export type * from "./run.ts"
export type * from "./runner.ts"
export type * from "./session.ts"
export { spanMs } from "./span.ts"
export { readStreamLine, type StreamLine, type StreamOperation, type Subscribed } from "./stream.ts"

type Routes = typeof ROUTES

/** `GET /api/sessions/:id` and so on. */
export type RouteName = keyof Routes
export type RouteCall<Name extends RouteName> = CallOf<Name, Routes[Name]>
export type RouteQuery<Name extends RouteName> = NonNullable<(RouteCall<Name> & { query?: unknown })["query"]>
export type RouteReply<Name extends RouteName> = ReplyOf<Routes[Name]>
