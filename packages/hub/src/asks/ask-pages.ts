import { isObject } from "@signalbox/protocol"
import type { AuditRecord } from "@signalbox/protocol/hub-api"
import type { Ask, AskRecord } from "../model/ask.ts"
import type { Directory, NewAuditRecord } from "../store/directory.ts"
import { type AskReader, wholeAnswer } from "./whole-ask.ts"

/** A list whose entries are read when they are asked for. */
export interface Page<T> {
  readonly entries: AsyncIterable<T>
  readonly largestBytes: number
  readonly more: boolean
}

/** A page ends before the entry that goes beyond this, but not before the first. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

interface Wanted<R> {
  readonly records: readonly R[]
  readonly limit: number
  readonly maxBytes?: number
}

/** Asks with what they asked, no more at once than the one that is being taken. */
export function askPage(reader: AskReader, wanted: Wanted<AskRecord>): Promise<Page<Ask>> {
  return pageOf(wanted, { bytesOf: (record) => reader.bytes(record), whole: (record) => reader.whole(record) })
}

/** Audit records with the inputs of the asks they are about. */
export function auditPage(
  { directory, reader }: { directory: Pick<Directory, "getAsk">; reader: AskReader },
  wanted: Wanted<AuditRecord>,
): Promise<Page<AuditRecord>> {
  const askOf = async (record: AuditRecord) => {
    const id = askShownBy(record)
    return id === undefined ? undefined : directory.getAsk(id)
  }
  return pageOf(wanted, {
    async bytesOf(record) {
      const ask = await askOf(record)
      return ask === undefined ? PLAIN_BYTES : reader.bytes(ask)
    },
    async whole(record) {
      const ask = await askOf(record)
      return ask === undefined ? record : wholeAudit(record, await reader.whole(ask))
    },
  })
}

const PLAIN_BYTES = 1024

interface Joining<R, T> {
  readonly bytesOf: (record: R) => Promise<number>
  readonly whole: (record: R) => Promise<T>
}

async function pageOf<R, T>(wanted: Wanted<R>, { bytesOf, whole }: Joining<R, T>): Promise<Page<T>> {
  const { records, limit, maxBytes = MAX_PAGE_BYTES } = wanted
  let sum = 0
  let largestBytes = 0
  const taken: R[] = []
  for (const record of records.slice(0, limit)) {
    const bytes = await bytesOf(record)
    sum += bytes
    if (sum > maxBytes && taken.length > 0) break
    largestBytes = Math.max(largestBytes, bytes)
    taken.push(record)
  }
  return { entries: joined(taken, whole), largestBytes, more: records.length > taken.length }
}

async function* joined<R, T>(records: readonly R[], whole: (record: R) => Promise<T>): AsyncGenerator<T> {
  for (const record of records) yield await whole(record)
}

type Details = NewAuditRecord["details"]

const EXTENDED = "ask/extended"

/** What the audit keeps of an ask that was given more time. */
export function auditOfExtension(
  ask: AskRecord,
  longer: AskRecord,
  { at, by }: { at: string; by: string },
): NewAuditRecord {
  const left = longer.extension?.left ?? 0
  const details = { before: ask.expiresAt ?? null, expiresAt: longer.expiresAt ?? null, left }
  return { at, what: EXTENDED, by, via: "person", ...about(ask, details) }
}

/** What the audit keeps of an ask that is settled: who or what did it, how long it waited, and what was answered. */
export function auditOf(settled: AskRecord, at: string): NewAuditRecord {
  const { state, settledBy: by = null, via = null, answer = null, rule = null, askedAt, settledAt = askedAt } = settled
  const waitedMs = Date.parse(settledAt) - Date.parse(askedAt)
  return { at, what: `ask/${state}`, by, via, ...about(settled, { answer, rule, waitedMs }) }
}

/** Which ask it is, and the hash of what it asked. */
function about(ask: AskRecord, more: Details): Pick<NewAuditRecord, "sessionId" | "askId" | "details"> {
  const { sessionId, id, kind, toolName = null, inputHash } = ask
  return { sessionId, askId: id, details: { kind, toolName, inputHash, ...more } }
}

/** The ask whose input a record shows and does not keep. */
function askShownBy({ what, askId, details }: AuditRecord): string | undefined {
  const isSettled = what.startsWith("ask/") && what !== EXTENDED && !("input" in details)
  return isSettled ? (askId ?? undefined) : undefined
}

/** The record with the input that was asked for, and with the one that was allowed. */
function wholeAudit(record: AuditRecord, { input }: Pick<Ask, "input">): AuditRecord {
  const { kind, toolName, inputHash, answer, ...rest } = record.details
  const told = isObject(answer) ? wholeAnswer(answer, input) : answer
  return { ...record, details: { kind, toolName, inputHash, input: input ?? null, answer: told, ...rest } }
}
