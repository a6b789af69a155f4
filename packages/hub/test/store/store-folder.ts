import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openStore, type Store, type StoreOptions } from "../../src/store/open-store.ts"

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
  run: (store: Store, file: string) => Promise<void>,
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
  readonly store: Store
  readonly reopen: () => Promise<Store>
  readonly dispose: () => Promise<void>
}> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-store-"))
  const file = join(folder, "hub.db")
  const first = openStore({ file })
  let store = first
  return {
    store: first,
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
