import { useRef, useSyncExternalStore } from "react"

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

/** A part of a store's value: the component renders again only when that part is another one. */
export function useSelected<T, S>(store: Readable<T>, select: (value: T) => S): S {
  const last = useRef<{ value: T; select: (value: T) => S; selected: S } | undefined>(undefined)
  return useSyncExternalStore(store.subscribe, () => {
    const value = store.get()
    if (last.current?.value !== value || last.current.select !== select) {
      const selected = select(value)
      const isSame = last.current !== undefined && Object.is(last.current.selected, selected)
      last.current = {
        value,
        select,
        selected: isSame && last.current !== undefined ? last.current.selected : selected,
      }
    }
    return last.current.selected
  })
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
