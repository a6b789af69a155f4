import type { Row } from "@signalbox/transcript"
import { type RefObject, useEffect, useMemo, useState } from "react"
import type { CacheSnapshot } from "virtua"

function keyOf(node: EventTarget | Node | null): string | undefined {
  const element = node instanceof Element ? node : node instanceof Node ? node.parentElement : null
  return element?.closest<HTMLElement>("article")?.dataset["key"]
}

/** Rows that stay in the document wherever the view is: the focused one, and those that a selection begins and ends in. */
export function useKeptRows(scroller: RefObject<HTMLElement | null>, rows: readonly Row[], onSelect: () => void) {
  const [focused, setFocused] = useState<string | undefined>(undefined)
  const [selected, setSelected] = useState<readonly string[]>([])
  useEffect(() => {
    const onSelection = () => {
      const selection = document.getSelection()
      const isOurs =
        selection !== null && !selection.isCollapsed && scroller.current?.contains(selection.anchorNode) === true
      const keys = isOurs ? [keyOf(selection.anchorNode), keyOf(selection.focusNode)] : []
      setSelected((before) => {
        const next = keys.filter((key) => key !== undefined)
        return next.length === before.length && next.every((key, index) => key === before[index]) ? before : next
      })
      if (isOurs) onSelect()
    }
    document.addEventListener("selectionchange", onSelection)
    return () => document.removeEventListener("selectionchange", onSelection)
  }, [scroller, onSelect])
  const indexes = useMemo(() => {
    const keys = new Set([...(focused === undefined ? [] : [focused]), ...selected])
    return keys.size === 0 ? [] : rows.flatMap(({ key }, index) => (keys.has(key) ? [index] : []))
  }, [rows, focused, selected])
  return { indexes, onFocus: (target: EventTarget) => setFocused(keyOf(target)) }
}

interface KeptSizes {
  readonly firstKey: string
  readonly count: number
  readonly sizes: CacheSnapshot
}

/** How high rows were, of the last few sessions: coming back, nothing has to be measured before it can be scrolled. */
const kept = new Map<string, KeptSizes>()
const MAX_KEPT = 20

export function keepSizes(session: string, rows: readonly Row[], sizes: CacheSnapshot): void {
  const firstKey = rows[0]?.key
  if (firstKey === undefined) return
  kept.delete(session)
  kept.set(session, { firstKey, count: rows.length, sizes })
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

/** Only for the same rows: another row's height would be worse than none. */
export function keptSizes(session: string, rows: readonly Row[]): CacheSnapshot | undefined {
  const own = kept.get(session)
  return own !== undefined && own.firstKey === rows[0]?.key && own.count === rows.length ? own.sizes : undefined
}
