import { chmodSync, closeSync, openSync } from "node:fs"

const OWNER_ONLY = 0o600

/**
 * Conversations are nobody else's to read. SQLite gives the files that it makes beside a database the database's own rights, so
 * that one is there before SQLite is; those of earlier versions are put right. A file that is there is not opened: closing it would
 * drop the locks that this process holds on it, and another process that reads the database would then take itself for the last one
 * and remove the write-ahead log under this one.
 * @param {string} file
 */
export function keepPrivate(file) {
  try {
    closeSync(openSync(file, "ax", OWNER_ONLY))
  } catch {
    // It is there. Or it cannot be made: then the database fails to open next, and tells what is wrong.
  }
  for (const end of ["", "-wal", "-shm"]) restrict(file + end)
}

/** @param {string} file */
function restrict(file) {
  try {
    chmodSync(file, OWNER_ONLY)
  } catch {
    // It is not there, or somebody else's: the folder is the owner's alone.
  }
}
