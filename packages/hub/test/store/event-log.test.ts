import { describeEventLogContract } from "../../src/testing/index.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { openReopenable } from "./store-folder.ts"

describeEventLogContract("memory", async () => ({
  log: new MemoryEventLog(),
  dispose: () => Promise.resolve(),
}))

describeEventLogContract("SQLite", async () => {
  const { store, reopen, dispose } = await openReopenable()
  return { log: store.log, dispose, reopen: async () => (await reopen()).log }
})
