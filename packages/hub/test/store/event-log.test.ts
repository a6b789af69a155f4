import type { EventLog } from "../../src/store/event-log.ts"
import type { SqliteStore } from "../../src/store/open-store.ts"
import { describeEventLogContract } from "../../src/testing/index.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { compressHere, openReopenable } from "./store-folder.ts"

describeEventLogContract("memory", async () => ({
  log: new MemoryEventLog(),
  dispose: () => Promise.resolve(),
}))

describeEventLogContract("SQLite", async () => {
  const { store, reopen, dispose } = await openReopenable()
  return { log: store.log, dispose, reopen: async () => (await reopen()).log }
})

/** Each append is confirmed when all there is has been compressed. */
function compressing(store: SqliteStore, file: string): EventLog {
  const { log } = store
  let underWay = Promise.resolve()
  let next: Promise<void> | undefined
  const compress = async () => {
    await underWay
    next = undefined
    underWay = compressHere(store, file)
    await underWay
  }
  return {
    async append(...append) {
      const appended = await log.append(...append)
      await (next ??= compress())
      return appended
    },
    read: (...read) => log.read(...read),
    sizes: (...read) => log.sizes(...read),
    find: (...wanted) => log.find(...wanted),
    bounds: (session) => log.bounds(session),
    purge: (session) => log.purge(session),
    purgeSome: () => log.purgeSome(),
  }
}

describeEventLogContract("SQLite, everything compressed at once", async () => {
  const { store, file, reopen, dispose } = await openReopenable()
  return { log: compressing(store, file), dispose, reopen: async () => compressing(await reopen(), file) }
})
