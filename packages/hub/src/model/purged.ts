import type { AuditRecord, Run, RunTask } from "@signalbox/protocol/hub-api"
import type { AskRecord } from "./ask.ts"
import type { NumberedCall, SeenCall } from "./seen-call.ts"

type Json = Readonly<Record<string, unknown>>

/** Which kind of answer it was. Messages, inputs and permissions in it are what people and agents said. */
const ANSWER_KINDS: Readonly<Record<string, readonly unknown[]>> = {
  behavior: ["allow", "deny"],
  action: ["accept", "decline", "cancel"],
  interrupt: [true, false],
  cancelled: [true],
}

/** Details of an audit record that say who, when, what and by which rule. All others may quote what was said and done. */
const KEPT_DETAILS: ReadonlySet<string> = new Set([
  "kind",
  "toolName",
  "inputHash",
  "rule",
  "effect",
  "code",
  "waitedMs",
  "expiresAt",
  "left",
  "runner",
  "tokenId",
  "role",
  "grant",
  "where",
  "machine",
  "gone",
  "outcome",
  "events",
  "createdAt",
])

/** Fields of an ask that say who decided about which tool, when and by which rule. All others may quote what was said and done. */
const ASK_FIELDS = [
  "id",
  "sessionId",
  "seq",
  "kind",
  "state",
  "requestId",
  "inputHash",
  "toolName",
  "toolUseId",
  "incarnation",
  "skippable",
  "askedAt",
  "expiresAt",
  "extension",
  "settledAt",
  "settledBy",
  "via",
  "rule",
  "fourEyes",
  "answerId",
  "deliveredAt",
] as const satisfies readonly (keyof AskRecord)[]

/** Fields of a judged tool call that say the same: without its input no policy can be tried on it. */
const CALL_FIELDS = [
  "number",
  "sessionId",
  "toolUseId",
  "at",
  "tool",
  "effect",
  "rule",
  "mode",
  "fourEyes",
  "seq",
] as const satisfies readonly (keyof NumberedCall)[]

const TASK_FIELDS = ["state", "session", "tries", "turns", "costUsd"] as const satisfies readonly (keyof RunTask)[]

/** An ask whose session was purged. */
export function purgedAsk(ask: AskRecord): AskRecord {
  const { answer } = ask
  return { ...only(ask, ASK_FIELDS), ...(answer === undefined ? {} : { answer: answerKind(answer) }), purged: true }
}

/** A record of the audit whose session was purged. */
export function purgedAudit<R extends Pick<AuditRecord, "details">>(record: R): R {
  const kept = Object.entries(record.details).flatMap(([name, value]): [string, unknown][] => {
    if (name === "answer" && typeof value === "object" && value !== null) return [[name, answerKind({ ...value })]]
    return KEPT_DETAILS.has(name) ? [[name, value]] : []
  })
  return { ...record, details: { ...Object.fromEntries(kept), purged: true } }
}

/** A judged tool call whose session was purged. */
export function purgedCall<C extends Omit<SeenCall, "sessionId" | "toolUseId" | "at" | "seq">>(call: C): C {
  const told: Partial<NumberedCall> = call
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only optional fields were left out
  return only(told, CALL_FIELDS) as C
}

/** The document of a run. */
export function runNamed(id: string): string {
  return `run/${id}`
}

/** The document that names the run in which a session did a task. */
export function runOf(session: string): string {
  return `run-of/${session}`
}

/** A run after a session was purged. A task that is not finished keeps its text: it goes on in another session. */
export function purgedRun(run: Run, session: string): Run {
  const isPurged = (task: RunTask) => task.session === session && (task.state === "done" || task.state === "failed")
  return { ...run, tasks: run.tasks.map((task) => (isPurged(task) ? { text: "", ...only(task, TASK_FIELDS) } : task)) }
}

const LEAVE = {
  asks: (body: string) => {
    const ask: AskRecord = JSON.parse(body)
    return purgedAsk(ask)
  },
  seen_calls: (body: string) => {
    const call: SeenCall = JSON.parse(body)
    return purgedCall(call)
  },
  audit: (body: string) => {
    const record: Omit<AuditRecord, "id"> = JSON.parse(body)
    return purgedAudit(record)
  },
}

/** Tables whose rows stay when their session is purged. */
export type PurgedTable = keyof typeof LEAVE

/**
 * The text of such a row after a purge. Null for a damaged one: it would hold up every purge behind it, and what nobody can read may
 * still quote what was said, so the row goes.
 */
export function leftInRow(table: PurgedTable, body: string): string | null {
  return leftBy(() => LEAVE[table](body))
}

/** The same of a run's document. */
export function leftInRun(body: string, session: string): string | null {
  return leftBy(() => {
    const run: Run = JSON.parse(body)
    return purgedRun(run, session)
  })
}

function leftBy(leave: () => unknown): string | null {
  try {
    return JSON.stringify(leave())
  } catch {
    return null
  }
}

function only<T extends object, K extends keyof T>(value: T, names: readonly K[]): Pick<T, K> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of these names those that the value has
  return Object.fromEntries(names.flatMap((name) => (name in value ? [[name, value[name]]] : []))) as Pick<T, K>
}

function answerKind(answer: Json): Json {
  return Object.fromEntries(
    Object.entries(answer).filter(([name, value]) => ANSWER_KINDS[name]?.includes(value) === true),
  )
}
