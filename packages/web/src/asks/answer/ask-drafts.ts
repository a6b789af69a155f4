import type { Ask } from "@signalbox/client"
import { useCallback } from "react"
import { createValueStore, useSelected } from "../../app/value-store.ts"

interface Draft {
  readonly askId: string
  readonly value: unknown
}

/**
 * What was begun and not sent, by ask and by what it asks for: it survives going elsewhere and coming back, as long as the page
 * lives. Not kept by the browser: what a form asks for may be a secret.
 */
const drafts = createValueStore<ReadonlyMap<string, Draft>>(new Map())
const MAX_DRAFTS = 100

/** One part of one ask's form. Whoever reads a part is whoever wrote it: `part` names one type. Another input begins anew. */
export function useAskDraft<T>(
  { id, inputHash }: Pick<Ask, "id" | "inputHash">,
  part: string,
  initial: T,
): readonly [T, (next: T) => void] {
  const key = `${part}:${inputHash}:${id}`
  const kept = useSelected(
    drafts,
    useCallback((all: ReadonlyMap<string, Draft>) => all.get(key)?.value, [key]),
  )
  const keep = useCallback(
    (next: T) => {
      const others = [...drafts.get()].filter(([other]) => other !== key)
      drafts.set(new Map([...others, [key, { askId: id, value: next }] as const].slice(-MAX_DRAFTS)))
    },
    [key, id],
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `keep` of the same part writes it
  return [kept === undefined ? initial : (kept as T), keep]
}

/** What is settled, by whomever, needs no draft any more. */
export function forgetSettledDrafts(asks: ReadonlyMap<string, Pick<Ask, "state">>): void {
  const isOver = ({ askId }: Draft) => (asks.get(askId)?.state ?? "pending") !== "pending"
  const before = [...drafts.get()]
  const left = before.filter(([, draft]) => !isOver(draft))
  if (left.length < before.length) drafts.set(new Map(left))
}
