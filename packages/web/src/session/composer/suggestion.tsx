import { textOf } from "@signalbox/protocol/envelope"
import type { Row } from "@signalbox/transcript"
import { useMemo } from "react"
import { Button } from "../../design/button.tsx"
import { oneLine } from "../../design/visible-characters.ts"

/** It comes with the end of a turn: further back there is none that still fits. */
const MAX_ROWS_BACK = 20

/** What the agent thinks might be said next; nothing once something has been said. */
function suggestionIn(rows: readonly Row[]): string | undefined {
  for (const row of rows.slice(-MAX_ROWS_BACK).toReversed()) {
    if (row.kind === "prompt") return undefined
    if (row.kind === "note" && row.topic === "prompt_suggestion") return textOf(row.details, "suggestion")
  }
  return undefined
}

interface SuggestionProps {
  readonly rows: readonly Row[]
  readonly onTake: (text: string) => void
}

/** Taken into the field to be read and changed, never sent by itself: the agent wrote it. */
export function Suggestion({ rows, onTake }: SuggestionProps) {
  const suggestion = useMemo(() => suggestionIn(rows), [rows])
  if (suggestion === undefined || suggestion.trim() === "") return null
  return (
    <Button
      aria-label={`Take the suggestion: ${oneLine(suggestion, 200)}`}
      onClick={() => onTake(suggestion)}
      className="max-w-full self-start rounded-full!"
    >
      <bdi className="truncate font-normal">{oneLine(suggestion, 120)}</bdi>
    </Button>
  )
}
