import { useCallback } from "react"
import { createValueStore, useSelected } from "../app/value-store.ts"

/**
 * Half-filled forms, by ask: they survive going elsewhere and coming back, as long as the page lives. Not kept by the
 * browser: what a form asks for may be a secret.
 */
const drafts = createValueStore<ReadonlyMap<string, unknown>>(new Map())
const MAX_DRAFTS = 100

/** One part of one ask's form. Whoever reads a part is whoever wrote it: `part` names one type. */
export function useAskDraft<T>(id: string, part: string, initial: T): readonly [T, (next: T) => void] {
  const key = `${part}:${id}`
  const kept = useSelected(
    drafts,
    useCallback((all: ReadonlyMap<string, unknown>) => all.get(key), [key]),
  )
  const keep = useCallback(
    (next: T) => {
      const others = [...drafts.get()].filter(([other]) => other !== key)
      drafts.set(new Map([...others, [key, next] as const].slice(-MAX_DRAFTS)))
    },
    [key],
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `keep` of the same part writes it
  return [kept === undefined ? initial : (kept as T), keep]
}

/** What was answered needs no draft any more. */
export function forgetDrafts(id: string): void {
  drafts.set(new Map([...drafts.get()].filter(([key]) => !key.endsWith(`:${id}`))))
}
