import { type DependencyList, useCallback, useEffect, useState } from "react"
import { useConnection } from "./hub-context.ts"
import { whileOpen } from "./value-store.ts"

export type Loaded<T> =
  | { readonly name: "loading" }
  | { readonly name: "ready"; readonly value: T }
  | { readonly name: "failed"; readonly why: string }

export interface Loading<T> {
  readonly state: Loaded<T>
  /** Reads it once more; what is shown stays until then. */
  readonly again: () => void
}

/** Something of the hub's, read when the screen opens, when `deps` change and when the hub is back. */
export function useLoaded<T>(load: () => Promise<T>, deps: DependencyList): Loading<T> {
  const read = useCallback(load, deps)
  const [held, setHeld] = useState<{ readonly of: typeof read; readonly state: Loaded<T> } | undefined>(undefined)
  const [tries, setTries] = useState(0)
  const isLive = useConnection().name === "live"
  useEffect(() => {
    if (!isLive) return undefined
    return whileOpen(
      read(),
      (value) => setHeld({ of: read, state: { name: "ready", value } }),
      (error) => setHeld({ of: read, state: { name: "failed", why: whyOf(error) } }),
    )
  }, [read, isLive, tries])
  const again = useCallback(() => setTries((count) => count + 1), [])
  return { state: held?.of === read ? held.state : { name: "loading" }, again }
}

export function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
