import type { Ask } from "@signalbox/client"
import { useState } from "react"
import { useAskDraft } from "./ask-drafts.ts"
import { focusCard } from "./following-focus.ts"

export type AskRow = "actions" | "deny" | "edit"

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
