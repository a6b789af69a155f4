import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ColdSessions } from "../../src/store/cold/cold-sessions.js"
import { openStore, type SqliteStore, type StoreOptions } from "../../src/store/open-store.ts"
import { openLog } from "../../src/store/search/index-file.js"

/** A file for a database, in a folder of its own. */
export async function withFile(run: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-store-"))
  try {
    await run(join(folder, "hub.db"))
  } finally {
    await rm(folder, { recursive: true })
  }
}

export async function withStore(
  run: (store: SqliteStore, file: string) => Promise<void>,
  options: Omit<StoreOptions, "file"> = {},
): Promise<void> {
  await withFile(async (file) => {
    const store = openStore({ file, ...options })
    try {
      await run(store, file)
    } finally {
      await store.close()
    }
  })
}

/** A store that can be closed and opened again, as contract suites do. */
export async function openReopenable(): Promise<{
  readonly store: SqliteStore
  readonly file: string
  readonly reopen: () => Promise<SqliteStore>
  readonly dispose: () => Promise<void>
}> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-store-"))
  const file = join(folder, "hub.db")
  const first = openStore({ file })
  let store = first
  return {
    store: first,
    file,
    async reopen() {
      await store.close()
      store = openStore({ file })
      return store
    },
    async dispose() {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

const EVER = { ended: Number.POSITIVE_INFINITY, others: Number.POSITIVE_INFINITY }

/** The thread's work, here and at once: compresses all there is, also where nothing is saved by it. */
export async function compressHere(store: SqliteStore, file: string, before = EVER): Promise<void> {
  const log = openLog(file)
  try {
    const sessions = new ColdSessions(log, before, Number.NEGATIVE_INFINITY)
    for (let step = sessions.step(); step.kind !== "end"; step = sessions.step()) {
      if (step.kind === "block") await store.compression.keep(step.block)
    }
  } finally {
    log.close()
  }
}
