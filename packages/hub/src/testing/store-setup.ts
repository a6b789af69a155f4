import type { Store } from "../store/open-store.ts"

/** A store with everything that belongs to it. */
export interface StoreSetup {
  readonly store: Store
  /** Closes the store in good order and opens it again on what it left. The one that was open before is not used any more. */
  readonly reopen: () => Promise<Store>
  /** Releases what the setup opened. */
  dispose(): Promise<void>
}

export type WithStore = (run: (store: Store, setup: StoreSetup) => Promise<void>) => Promise<void>

/** Each test gets a store of its own. */
export function withStoreOf(open: () => Promise<StoreSetup>): WithStore {
  return async (run) => {
    const setup = await open()
    try {
      await run(setup.store, setup)
    } finally {
      await setup.dispose()
    }
  }
}
