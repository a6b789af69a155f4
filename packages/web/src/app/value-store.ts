import { useSyncExternalStore } from "react"

/** A value that React can watch. The whole cockpit's state is kept in these; there is no other kind. */
export interface ValueStore<T> {
  readonly get: () => T
  readonly set: (next: T) => void
  readonly subscribe: (listener: () => void) => () => void
}

export function createValueStore<T>(initial: T): ValueStore<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

type Readable<T> = Pick<ValueStore<T>, "get" | "subscribe">

export function useValue<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.subscribe, store.get)
}

/** A part of a store's value, the same object while it has not changed: the component renders again only when it is another one. */
export function useSelected<T, S>(store: Readable<T>, select: (value: T) => S): S {
  return useSyncExternalStore(store.subscribe, () => select(store.get()))
}

/** For an effect that waits for something: what comes after it has ended is dropped. Without `fail`, a failure is no news. */
export function whileOpen<T>(
  promise: Promise<T>,
  take: (value: T) => void,
  fail: (error: unknown) => void = () => undefined,
): () => void {
  let isOver = false
  promise.then(
    (value) => (isOver ? undefined : take(value)),
    (error: unknown) => (isOver ? undefined : fail(error)),
  )
  return () => {
    isOver = true
  }
}
