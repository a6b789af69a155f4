import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import LibsqlDatabase from "libsql"
import { expect } from "vitest"
import { databaseIn } from "../../../src/store/database.ts"
import { openStore, type SqliteStore } from "../../../src/store/open-store.ts"
import { keptSession } from "../../../src/testing/records.ts"
import { checkData, salvageData } from "../../../src/upkeep.ts"

export const SESSIONS = ["one", "two", "three"]

/** Folders for one test: `folder(name)` makes one. */
export async function inFolders(run: (folder: (name: string) => string) => Promise<void>): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), "signalbox-upkeep-"))
  try {
    await run((name) => {
      const path = join(place, name)
      mkdirSync(path, { recursive: true, mode: 0o700 })
      return path
    })
  } finally {
    await rm(place, { recursive: true })
  }
}

export async function withStoreIn<T>(data: string, run: (store: SqliteStore) => Promise<T>): Promise<T> {
  const store = openStore({ file: databaseIn(data) })
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}

export function eventsOf(session: string, count: number, from = 1) {
  return Array.from({ length: count }, (_, index) => ({
    at: 1_700_000_000_000 + index,
    from: "agent" as const,
    key: `${session} ${from + index}`,
    line: JSON.stringify({ type: "assistant", session, n: from + index, fill: "x".repeat(500) }),
  }))
}

/** A hub's data directory with so many events in each of three sessions. */
export async function fill(data: string, events: number): Promise<void> {
  await withStoreIn(data, async ({ log, directory }) => {
    for (const session of SESSIONS) {
      await directory.saveSession(keptSession(session, { title: `session ${session}` }))
      await log.append(session, eventsOf(session, events))
      await directory.saveSession(keptSession(session, { title: `session ${session}`, lastSeq: events }))
    }
  })
}

/** Overwrites a page in the middle of a table or an index. */
export function damagePage(data: string, of: string): void {
  const file = databaseIn(data)
  const database = new LibsqlDatabase(file)
  const pages = database
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'")
    .raw()
    .all([of]) as number[][]
  const pageBytes = (database.prepare("PRAGMA page_size").raw().all([]) as number[][])[0]?.[0] ?? 4096
  database.close()
  const [page = 0] = pages[Math.floor(pages.length / 2)] ?? []
  if (page === 0) throw new Error(`${of} has no leaf page`)
  const bytes = readFileSync(file)
  bytes.fill(0xff, (page - 1) * pageBytes, page * pageBytes)
  writeFileSync(file, bytes)
}

/**
 * Every file of a folder with its content, to see that nothing was changed. Without an empty log and its index: the driver removes them
 * when its closed connections are collected, whoever works then.
 */
export function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "base64")] as const)
  return Object.fromEntries(files.filter(([name, content]) => content !== "" && !name.endsWith("-shm")))
}

export const EVENTS = 400

/** A damaged directory, what a check says of it, and what was saved of it, in a directory of its own. */
export async function damageAndSave(folder: (name: string) => string, ...damaged: readonly string[]) {
  const [data, saved] = [folder("data"), folder("saved")]
  await fill(data, EVENTS)
  for (const part of damaged) damagePage(data, part)
  const check = await checkData(data)
  const before = contentOf(data)
  const report = await salvageData(data, saved)
  expect(contentOf(data), "the damaged files are as they were").toEqual(before)
  expect(await checkData(saved)).toMatchObject({ state: "sound" })
  const lost = Object.fromEntries(report.tables.flatMap(({ table, lost }) => (lost > 0 ? [[table, lost]] : [])))
  return { saved, check, report, lost }
}
