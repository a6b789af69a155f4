import type { Session } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import type { Row } from "@signalbox/transcript"
import { exitWords } from "../fleet/session-words.ts"

/** Why an agent never came to work. */
interface LaunchFailure {
  readonly why: string
  /** The last that its process wrote to stderr. */
  readonly stderr: string
}

type MessageAt = (seq: number) => Readonly<Record<string, unknown>> | undefined
type Facts = Pick<Session, "state" | "runner" | "turns" | "exit">

/** Set when a machine started the session's process and the process ended by itself during its first turn. */
export function launchFailureOf(session: Facts, rows: readonly Row[], messageAt: MessageAt): LaunchFailure | undefined {
  const { state, runner, turns, exit } = session
  if (state !== "ended" || runner === null || exit === undefined) return undefined
  const { code, signal } = exit
  const reason = startupReason(rows, messageAt)
  if (reason === undefined && (turns > 0 || code === 0 || (code === undefined && signal === undefined)))
    return undefined
  const note = rows.findLast((row) => row.kind === "note" && row.topic === "hub/ended")
  const stderr = note === undefined ? undefined : textOf(messageAt(note.headSeq), "stderrTail")
  const told = exitWords(exit)
  return { why: reason === undefined ? told : `${reason}: ${told}`, stderr: stderr ?? "" }
}

/** The CLI's own word for it, where it came to saying one. */
function startupReason(rows: readonly Row[], messageAt: MessageAt): string | undefined {
  const result = rows.findLast((row) => row.kind === "result")
  return result === undefined ? undefined : textOf(messageAt(result.headSeq), "startup_failure_reason")
}
