import type { Row } from "@signalbox/transcript"
import { type RefObject, useEffect, useMemo, useState } from "react"

function keyOf(node: EventTarget | Node | null): string | undefined {
  const element = node instanceof Element ? node : node instanceof Node ? node.parentElement : null
  return element?.closest<HTMLElement>("article")?.dataset["key"]
}

interface KeptRows {
  /** Where they are among the rows, in order. */
  readonly indexes: readonly number[]
  readonly onFocus: (target: EventTarget) => void
}

/** Rows that stay in the document wherever the view is: the focused one, and those that a selection begins and ends in. */
export function useKeptRows(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  onSelect: () => void,
): KeptRows {
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
  return { indexes, onFocus: (target) => setFocused(keyOf(target)) }
}
