import { HubError } from "../../errors.ts"
import type { Database } from "../database.ts"
import { storeFailure } from "../store-failure.ts"
import { sql as first } from "./001-first.ts"
import { sql as keysAndSearchApart } from "./002-keys-and-search-apart.ts"
import { sql as asksReferToEvents } from "./003-asks-refer-to-events.ts"
import { sql as rowsByTheirKeys } from "./004-rows-by-their-keys.ts"
import { sql as seenCalls } from "./005-seen-calls.ts"
import { sql as policyVersions } from "./006-policy-versions-and-audit-columns.ts"
import { sql as ruleUses } from "./007-rule-uses.ts"
import { sql as asksByTheirCall } from "./008-asks-by-their-call.ts"
import { sql as pinsAndReadMarks } from "./009-pins-and-read-marks.ts"
import { sql as purges } from "./010-purges.ts"
import { sql as coldBlocks } from "./011-cold-blocks.ts"
import { sql as runnerOfAPurge } from "./012-runner-of-a-purge.ts"
import { sql as unheardAnswers } from "./013-unheard-answers.ts"

/** In the order of their numbers. One that was released is never changed: the next one mends it. */
const MIGRATIONS: readonly string[] = [
  first,
  keysAndSearchApart,
  asksReferToEvents,
  rowsByTheirKeys,
  seenCalls,
  policyVersions,
  ruleUses,
  asksByTheirCall,
  pinsAndReadMarks,
  purges,
  coldBlocks,
  runnerOfAPurge,
  unheardAnswers,
]

/** Refuses a file that a newer version wrote: what that version keeps in it is not known here. */
export function requireKnownSchema(file: string, version: number): void {
  if (version <= MIGRATIONS.length) return
  throw new HubError(
    "data/newer",
    `${newerWords(file, version, MIGRATIONS.length)}: use that version of Signalbox for it`,
  )
}

function newerWords(what: string, version: number, known: number): string {
  return `${what} was written by a newer version of Signalbox (its schema is ${version}, this version knows ${known})`
}

/** Brings the file to this version. Each step is a transaction: a step that fails leaves the file as it was before it. */
export function migrate(database: Database, migrations: readonly string[] = MIGRATIONS): void {
  const version = Number(database.get("PRAGMA user_version", [])?.[0] ?? 0)
  if (version > migrations.length) {
    throw new HubError(
      "store/failed",
      `${newerWords("The database", version, migrations.length)}. Start that version, or use another data directory.`,
      { details: { fileVersion: version, knownVersion: migrations.length } },
    )
  }
  for (const [index, sql] of migrations.entries()) {
    if (index >= version) applyStep(database, index + 1, sql)
  }
}

/** Makes the tables of a version in an empty file. */
export function makeSchema(database: Database, version: number): void {
  migrate(database, MIGRATIONS.slice(0, version))
}

function applyStep(database: Database, number: number, sql: string): void {
  database.exec("BEGIN IMMEDIATE")
  try {
    // Another process may have been first.
    if (Number(database.get("PRAGMA user_version", [])?.[0] ?? 0) < number) {
      database.exec(sql)
      database.exec(`PRAGMA user_version = ${number}`)
    }
    database.exec("COMMIT")
  } catch (error) {
    database.exec("ROLLBACK")
    throw storeFailure(error, `Step ${number} of bringing the database up to date failed; it was left as it was`)
  }
}
