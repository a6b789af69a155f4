import { chmodSync, closeSync, openSync } from "node:fs"

const OWNER_ONLY = 0o600

/**
 * Conversations are nobody else's to read. SQLite gives the files that it makes beside a database the database's own rights, so
 * that one is there before SQLite is; those of earlier versions are put right.
 * @param {string} file
 */
export function keepPrivate(file) {
  try {
    closeSync(openSync(file, "a", OWNER_ONLY))
    for (const end of ["", "-wal", "-shm"]) restrict(file + end)
  } catch {
    // The database fails to open next, and tells what is wrong.
  }
}

/** @param {string} file */
function restrict(file) {
  try {
    chmodSync(file, OWNER_ONLY)
  } catch {
    // It is not there, or somebody else's: the folder is the owner's alone.
  }
}
