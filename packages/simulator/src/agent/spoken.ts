import type { Fields, UsageNumbers } from "../profiles/profile.ts"

/** What one reply of the model came to. */
export interface Spoken {
  readonly content: Fields[]
  readonly messageId: string
  readonly model: string
  readonly stopReason: string | null
  readonly stopDetails?: Readonly<Fields>
  readonly usage?: UsageNumbers
  readonly failure?: Failure
  readonly firstTokenMs?: number
  readonly uuids: readonly string[]
  readonly progress: Progress
  /** Asked for in one piece, not as a stream. */
  readonly isWhole: boolean
}

/** How far a reply came: its head, a part of its first block, whole blocks. */
export type Progress = "nothing" | "begun" | "in-block" | "blocks"

/** `cut`: the connection ended within the reply. `isRepeated`: it failed in this way at every try. */
export type Failure =
  | { kind: "http"; status: number; type: string; message: string; retryAfterMs?: number; isRepeated?: boolean }
  | { kind: "cut" }
  | { kind: "aborted" }

export function usageNumbers(usage: Readonly<Fields>): UsageNumbers {
  const number = (name: string) => (typeof usage[name] === "number" ? usage[name] : 0)
  return {
    input: number("input_tokens"),
    output: number("output_tokens"),
    cacheRead: number("cache_read_input_tokens"),
    cacheWrite: number("cache_creation_input_tokens"),
  }
}
