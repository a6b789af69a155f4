import { isObject, textOf } from "@signalbox/protocol"
import type { AuditRecord, Backtest, BacktestLine, RouteCall, RouteQuery } from "@signalbox/protocol/hub-api"
import { HubClientError } from "./errors.ts"
import type { CallOptions, Rest } from "./rest.ts"

export interface PolicyTestOptions extends Omit<RouteCall<"POST /api/policy/test">["body"], "policy">, CallOptions {
  /** Told several times how far it is. */
  readonly onProgress?: (progress: { readonly judged: number; readonly total: number }) => void
}

/** Longer than the hub itself works on one, and than it lets others wait before it. */
export const TEST_TIMEOUT_MS = 15 * 60_000

/** Ends on the hub, too, when its signal is aborted. */
export async function testPolicy(
  rest: Rest,
  policy: RouteCall<"POST /api/policy/test">["body"]["policy"],
  { since, limit, onProgress, ...options }: PolicyTestOptions,
): Promise<Backtest> {
  const body = { policy, ...(since === undefined ? {} : { since }), ...(limit === undefined ? {} : { limit }) }
  const call = { method: "POST", path: "/api/policy/test", body, timeoutMs: TEST_TIMEOUT_MS, ...options } as const
  let result: Backtest | undefined
  await rest.lines(call, (text) => {
    // Taken at the hub's word, as every reply is.
    const line: BacktestLine = JSON.parse(text)
    if ("progress" in line) onProgress?.(line.progress)
    else if ("result" in line) result = line.result
    else throw failureIn(line)
  })
  if (result === undefined) throw new HubClientError("client/bad-reply", "the hub ended the test without a result")
  return result
}

function failureIn(line: unknown): HubClientError {
  const error = isObject(line) ? line["error"] : undefined
  return new HubClientError(textOf(error, "code") ?? "client/bad-reply", textOf(error, "message") ?? "the test failed")
}

/** Nothing is asked for before somebody wants it. */
export async function* auditRecords(rest: Rest, query: RouteQuery<"GET /api/audit">): AsyncGenerator<AuditRecord> {
  let place: Pick<RouteQuery<"GET /api/audit">, "after" | "before"> = {}
  for (;;) {
    const { records, more } = await rest.route("GET /api/audit", { query: { limit: PAGE, ...query, ...place } })
    yield* records
    const last = records.at(-1)
    if (!more || last === undefined) return
    place = query.order === "newest" ? { before: last.id } : { after: last.id }
  }
}

const PAGE = 500
