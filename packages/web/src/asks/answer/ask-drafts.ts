import type { Ask } from "@signalbox/client"
import { useCallback, useState } from "react"
import { keepStored, readTexts } from "../../app/stored.ts"
import { createValueStore, useSelected } from "../../app/value-store.ts"
import { focusCard } from "./following-focus.ts"

interface Draft {
  readonly askId: string
  readonly value: unknown
}

/**
 * Answers that were begun and not sent, by ask and by its input: a draft survives going elsewhere and coming back, as long as the page
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

/** A settled ask, by whomever, needs no draft any more. */
export function forgetSettledDrafts(asks: ReadonlyMap<string, Pick<Ask, "state">>): void {
  const isOver = ({ askId }: Draft) => (asks.get(askId)?.state ?? "pending") !== "pending"
  const before = [...drafts.get()]
  const left = before.filter(([, draft]) => !isOver(draft))
  if (left.length < before.length) drafts.set(new Map(left))
}

type AskRow = "actions" | "deny" | "edit"

export interface OpenRow {
  readonly row: AskRow
  readonly open: (row: AskRow) => void
  readonly back: () => void
  /** Opened here and now, to be typed into. One that is found open on coming back takes no focus. */
  readonly takesFocus: boolean
}

/** Which of its rows a request shows: it stays open with what was typed there, until it is closed or the ask is settled. */
export function useAskRow(ask: Pick<Ask, "id" | "inputHash">): OpenRow {
  const [row, setRow] = useAskDraft<AskRow>(ask, "row", "actions")
  const [takesFocus, setTakesFocus] = useState(false)
  return {
    row,
    takesFocus,
    open(next) {
      setTakesFocus(true)
      setRow(next)
    },
    back() {
      setRow("actions")
      focusCard(ask.id)
    },
  }
}

/** The last reasons that were given for a denial, on this browser: what was said once is often said again. */
const KEY = "signalbox:reasons"
const MAX_REASONS = 4
const MAX_CHARS = 500

export function recentReasons(): readonly string[] {
  return readTexts(KEY).slice(0, MAX_REASONS)
}

export function keepReason(reason: string): void {
  if (reason === "" || reason.length > MAX_CHARS) return
  keepStored(KEY, [reason, ...recentReasons().filter((kept) => kept !== reason)].slice(0, MAX_REASONS))
}
