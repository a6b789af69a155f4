import { describeDirectoryContract } from "../../src/testing/index.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { openReopenable } from "./store-folder.ts"

describeDirectoryContract("memory", async () => ({
  directory: new MemoryDirectory(),
  dispose: () => Promise.resolve(),
}))

describeDirectoryContract("SQLite", async () => {
  const { store, reopen, dispose } = await openReopenable()
  return { directory: store.directory, dispose, reopen: async () => (await reopen()).directory }
})
