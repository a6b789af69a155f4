import type { Policy } from "@signalbox/policy"
import type { Backtest, PolicySuggestions } from "@signalbox/protocol/hub-api"

/** Results by kind of job. */
export interface BacktestResults {
  /** All recorded requests, judged by a policy that nobody has checked yet. */
  readonly test: Backtest
  /** Only what people denied: all that can speak against putting a policy in force. */
  readonly denied: Backtest
  readonly suggest: PolicySuggestions
}

interface Job<Kind extends keyof BacktestResults> {
  readonly kind: Kind
  readonly inForce: Policy
  readonly since?: string | undefined
}

export type BacktestJob =
  | (Job<"test" | "denied"> & { readonly proposed: unknown; readonly maxExamples: number })
  | Job<"suggest">

/** The data that the thread is started with. */
export interface BacktestThreadData {
  /** A database file, or the address of a PostgreSQL database. It is only read there. */
  readonly store: string
  readonly job: BacktestJob
  /** Shared with it: not 0 when nobody wants the result any more. */
  readonly stop: Int32Array
  /** A job that takes longer ends with what it has. */
  readonly timeoutMs: number
}

export type FromBacktestThread =
  | { readonly kind: "progress"; readonly judged: number; readonly total: number }
  | { readonly kind: "done"; readonly result: BacktestResults[keyof BacktestResults] }
  | { readonly kind: "invalid"; readonly problems: readonly string[] }
  | { readonly kind: "failed"; readonly reason: string }
