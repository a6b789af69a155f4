import type { Page } from "../core.ts"
import type { Ask, AskRecord } from "../model/ask.ts"
import type { AuditRecord } from "../model/audit.ts"
import type { Directory } from "../store/directory.ts"
import { askShownBy, wholeAudit } from "./ask-audit.ts"
import type { AskReader } from "./whole-ask.ts"

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
