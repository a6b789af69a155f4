import type { SearchReply } from "@signalbox/protocol/hub-api"
import type { SearchQuery } from "../../core.ts"

/** The data that the thread of an index in a file is started with. */
export interface SearchThreadData {
  /** The log, which is only read there. */
  readonly logFile: string
  readonly indexFile: string
  /** Shared with it: see `search-signal.js`. */
  readonly signal: Int32Array
}

export type ToSearchThread =
  | { readonly kind: "search"; readonly id: number; readonly query: SearchQuery }
  /** Answered when everything that is in the log by now can be found. */
  | { readonly kind: "catch-up"; readonly id: number }
  /** Sessions that were purged, by their numbers in the log. Answered when nothing of them is left in the index. */
  | { readonly kind: "forget"; readonly id: number; readonly sessions: readonly number[] }
  /** Something was committed: in these logs, where the thread cannot find out by itself. */
  | { readonly kind: "wake"; readonly logs: readonly number[] }
  | { readonly kind: "close" }

export type FromSearchThread =
  | { readonly kind: "found"; readonly id: number; readonly reply: SearchReply }
  | { readonly kind: "caught-up"; readonly id: number }
  | { readonly kind: "forgotten"; readonly id: number }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
