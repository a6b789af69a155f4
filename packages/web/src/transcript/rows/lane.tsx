import type { ToolRow } from "@signalbox/protocol/transcript"
import { Button } from "../../design/button.tsx"
import { Markdown } from "../markdown.tsx"
import { INLINE_ROWS, MAX_DEPTH } from "../row-place.ts"
import { resultText, textIn } from "../tools/tool-words.ts"
import { useTranscript } from "../transcript-context.ts"

/** What a sub-agent did. No scroller in a scroller: the rest is one click away. */
export function Lane({ row, depth = 1 }: { readonly row: ToolRow; readonly depth?: number }) {
  const { feed, onLane, renderRow } = useTranscript()
  const rows = feed.laneRows(row.toolUseId)
  const shown = rows.slice(-INLINE_ROWS)
  const prompt = textIn(row.input, "prompt")
  const answer = resultText(row.result?.content)
  return (
    <div className="flex flex-col gap-2 border-s-2 border-line ps-3">
      {prompt !== undefined && <p className="line-clamp-3 text-dense whitespace-pre-wrap text-text-2">{prompt}</p>}
      {(rows.length > INLINE_ROWS || depth >= MAX_DEPTH) && (
        <Button look="quiet" className="self-start" onClick={() => onLane(row.toolUseId)}>
          Open lane, {rows.length} rows
        </Button>
      )}
      {depth < MAX_DEPTH && shown.map(renderRow)}
      {rows.length <= INLINE_ROWS && rows.length > 0 && (
        <Button look="quiet" className="self-start" onClick={() => onLane(row.toolUseId)}>
          Open lane
        </Button>
      )}
      {answer !== "" && (
        <div className="rounded-control bg-sunken px-3 py-2">
          <Markdown text={answer} live={false} />
        </div>
      )}
    </div>
  )
}
