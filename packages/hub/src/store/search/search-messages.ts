import type { SearchReply } from "@signalbox/protocol/hub-api"
import type { SearchQuery } from "../../core.ts"

/** What the thread is started with. */
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
  | { readonly kind: "wake" }
  | { readonly kind: "close" }

export type FromSearchThread =
  | { readonly kind: "found"; readonly id: number; readonly reply: SearchReply }
  | { readonly kind: "caught-up"; readonly id: number }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
