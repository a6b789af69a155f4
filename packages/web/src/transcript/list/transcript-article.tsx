import type { Row, RowOf } from "@signalbox/transcript"
import { memo } from "react"
import { copyText } from "../../app/announcer.tsx"
import { useCanOperate, useMe } from "../../app/hub-context.ts"
import { navigate } from "../../app/router.tsx"
import { IconButton } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { ForkIcon, LinkIcon } from "../../design/icons.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { RowView } from "../rows/row-view.tsx"
import { timeOf } from "../rows/small-rows.tsx"
import { useTranscript } from "../rows/transcript-context.tsx"
import { toolWords } from "../tools/tool-words.ts"

interface ArticleProps {
  readonly row: Row
  readonly position: number
  /** It was just gone to: it, or the nearest to what was meant. */
  readonly mark: "exact" | "closest" | undefined
}

/** Over the row's corner, as long as one points at it or is in it. */
const BY_POINTER =
  "not-coarse:absolute not-coarse:top-0.5 not-coarse:right-1 not-coarse:bg-canvas/90 not-coarse:ps-2 not-coarse:group-focus-within/row:flex not-coarse:group-hover/row:flex"
/**
 * Below the row that was touched, and not one of its buttons: fingers need room, and must not cover what they opened. While a
 * tool is pressed neither the row nor the tool has the focus.
 */
const BY_TOUCH = "coarse:justify-end coarse:group-focus/row:flex coarse:focus-within:flex coarse:active:flex"

const SMALL = "not-coarse:size-6 not-coarse:min-h-6"

/** A row with its address. */
export const TranscriptArticle = memo(function TranscriptArticle({ row, position, mark }: ArticleProps) {
  const { addressOf, onRaw } = useTranscript()
  const me = useMe()
  // A conversation can be cut after what the agent itself said.
  const canFork = useCanOperate() && row.kind === "text" && row.state === "done" && row.lane === null
  const { session, seq } = addressOf(row.headSeq)
  const link = `${location.origin}/s/${encodeURIComponent(session)}?seq=${seq}`
  return (
    <article
      tabIndex={-1}
      aria-label={nameOf(row, me.name)}
      aria-posinset={position}
      aria-setsize={-1}
      data-seq={row.headSeq}
      data-key={row.key}
      data-kind={row.kind}
      data-mark={mark}
      data-history={row.headSeq < 0 ? "" : undefined}
      className={classes(
        "group/row relative mx-auto max-w-4xl rounded-control px-4 py-1 outline-offset-0! tablet:px-6",
        // History that a fork began with: it was said in another session.
        row.headSeq < 0 && "text-text-2",
        mark !== undefined && "outline-2 outline-focus outline-solid",
      )}
    >
      <RowView row={row} />
      {mark === "closest" && (
        <span className="absolute -top-2.5 left-4 rounded-mark border border-focus bg-raised px-1.5 text-meta text-text-2">
          Closest visible event
        </span>
      )}
      <span className={classes("hidden items-center gap-1 rounded-control", BY_POINTER, BY_TOUCH)}>
        <button
          type="button"
          onClick={() => onRaw(row.headSeq)}
          className="min-h-6 min-w-6 coarse:min-h-11 coarse:px-2 text-meta text-text-3 tabular-nums hover:underline"
          title="Show raw event"
        >
          {timeOf(row.at)}
        </button>
        {canFork && (
          <IconButton
            label="Fork from here"
            onClick={() => navigate(`/new?fork=${encodeURIComponent(session)}&at=${addressOf(row.lastSeq).seq}`)}
            className={SMALL}
          >
            <ForkIcon size={14} />
          </IconButton>
        )}
        <IconButton label="Copy link" onClick={() => copyText(link, "Link copied")} className={SMALL}>
          <LinkIcon size={14} />
        </IconButton>
      </span>
    </article>
  )
})

/** A row that cannot be named is still a row: what goes wrong in it is told inside of it. */
function nameOf(row: Row, me: string): string {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each row is given to the function of its own kind
    const name = NAMES[row.kind] as (row: Row, me: string) => string
    return name(row, me)
  } catch {
    return "Event"
  }
}

/** Names of rows, for those who hear them. */
const NAMES: { readonly [K in Row["kind"]]: (row: RowOf<K>, me: string) => string } = {
  prompt: ({ author, text }, me) =>
    `Message from ${author === undefined || author === me ? "you" : author}: ${oneLine(text, 80)}`,
  text: ({ text }) => `Claude: ${oneLine(text, 80)}`,
  thinking: () => "Thinking",
  tool: (row) => {
    const { name, subject } = toolWords(row)
    return `${name === "$" ? "Command" : name} ${subject}`.trim()
  },
  activity: ({ summary }) => summary,
  unknown: ({ name }) => `Unknown event ${name}`,
  note: ({ text }) => oneLine(text, 80),
  result: ({ state }) => (state === "done" ? "Turn finished" : `Turn ${state}`),
  started: () => "Started",
  compaction: () => "Context compacted",
  failure: () => "Request failed",
  harness: () => "Added automatically",
  picture: () => "Image",
  hook: ({ name }) => `Hook ${name}`,
  limit: () => "Rate limit",
  retry: () => "Retry",
  ask: () => "Question",
}
