import type { Session } from "@signalbox/client"
import type { PromptRow, Row } from "@signalbox/transcript"

/** The part of a session's record that tells whether a message waits. */
export type TurnFacts = Pick<Session, "state" | "turnStartedAt">

/**
 * Whether a message of the log still waits. Newer agents say so themselves. Of others it is known that they take one turn after
 * the other: what was sent while one was under way, and was not taken up yet, waits for its end. `isLast`: the agent has said
 * nothing since.
 */
export function isQueued(
  { delivery, at }: Pick<PromptRow, "delivery" | "at">,
  { state, turnStartedAt }: TurnFacts,
  isLast: boolean,
): boolean {
  if (delivery !== "queued" && delivery !== "sent") return false
  if (state === "ended") return false
  const isLater = turnStartedAt !== undefined && Date.parse(turnStartedAt) < Date.parse(at)
  if (state === "starting" || state === "disconnected") return isLast || isLater
  if (state === "idle") return delivery === "queued"
  return isLater || (delivery === "queued" && turnStartedAt === undefined)
}

interface Parted {
  /** The conversation: what the agent said, and what it was told. */
  readonly rows: readonly Row[]
  /** The agent has not taken them up: their place in the conversation is still to come. */
  readonly waiting: readonly PromptRow[]
}

const NONE: readonly PromptRow[] = []
const SPEECH: ReadonlySet<Row["kind"]> = new Set(["text", "thinking", "tool", "activity", "result", "failure"])

/** Parts the messages that wait from the conversation. The same rows come back if none waits. */
export function partWaiting(rows: readonly Row[], session: TurnFacts | undefined): Parted {
  if (session === undefined) return { rows, waiting: NONE }
  const waiting: PromptRow[] = []
  let isLast = true
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index]
    if (row === undefined) continue
    if (SPEECH.has(row.kind)) isLast = false
    if (row.kind === "prompt" && isQueued(row, session, isLast)) waiting.unshift(row)
  }
  if (waiting.length === 0) return { rows, waiting: NONE }
  const left = new Set<Row>(waiting)
  return { rows: rows.filter((row) => !left.has(row)), waiting }
}
