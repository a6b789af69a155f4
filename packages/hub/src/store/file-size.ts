import { statSync } from "node:fs"
import type { StoreSize } from "@signalbox/protocol/hub-api"
import type { Database } from "./database.ts"

/** Freed pages that one step gives back to the disk: each may have to be filled with another one first. */
const STEP_PAGES = 128
/** An older version's file of up to this size is made shrinkable when it is opened, which takes about a second. */
const MAX_CONVERTED_BYTES = 256 * 1024 * 1024
const INCREMENTAL = 2

/** `canShrink` is false for a file that an older version made and that is too large to be changed in passing. */
export type FileSize = Pick<StoreSize, "bytes" | "freeBytes" | "walBytes" | "searchBytes" | "canShrink">

/** Works only before the first table of a new file. */
export function makeShrinkable(database: Database): void {
  if (pragma(database, "page_count") === 0) database.exec("PRAGMA auto_vacuum = INCREMENTAL")
}

/** Files of older versions keep the pages that are freed in them. Rewriting one takes as long as it is large, so large ones stay. */
export function convertIfSmall(database: Database, maxBytes = MAX_CONVERTED_BYTES): void {
  if (canShrink(database) || pragma(database, "page_count") * pragma(database, "page_size") > maxBytes) return
  try {
    database.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
    database.all("PRAGMA wal_checkpoint(TRUNCATE)", [])
  } catch {
    // There may be no room for a second copy. Nothing is changed then, and the hub works as it did.
  }
}

export function canShrinkNow(database: Database): boolean {
  return pragma(database, "freelist_count") > 0 && canShrink(database)
}

/** Gives some freed pages back to the disk. False: that did not help. */
export function shrinkSome(database: Database): boolean {
  const before = pragma(database, "freelist_count")
  database.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`)
  return pragma(database, "freelist_count") < before
}

export function fileSize(database: Database, file: string, searchFile: string): FileSize {
  const pageBytes = pragma(database, "page_size")
  return {
    bytes: pragma(database, "page_count") * pageBytes,
    freeBytes: pragma(database, "freelist_count") * pageBytes,
    walBytes: bytesOf(`${file}-wal`),
    searchBytes: bytesOf(searchFile) + bytesOf(`${searchFile}-wal`),
    canShrink: canShrink(database),
  }
}

function canShrink(database: Database): boolean {
  return pragma(database, "auto_vacuum") === INCREMENTAL
}

function pragma(database: Database, name: string): number {
  return Number(database.get(`PRAGMA ${name}`, [])?.[0] ?? 0)
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
