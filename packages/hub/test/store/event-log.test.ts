import { MemoryEventLog } from "../../src/store/memory-event-log.ts"
import { describeEventLogContract } from "../../src/testing/index.ts"
import { openReopenable } from "./store-folder.ts"

describeEventLogContract("memory", async () => ({
  log: new MemoryEventLog(),
  dispose: () => Promise.resolve(),
}))

describeEventLogContract("SQLite", async () => {
  const { store, reopen, dispose } = await openReopenable()
  return { log: store.log, dispose, reopen: async () => (await reopen()).log }
})
