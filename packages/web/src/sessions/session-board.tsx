import { useMemo, useRef } from "react"
import { Virtualizer } from "virtua"
import { classes } from "../design/classes.ts"
import { UpdateOrder, useHeldSections, useSectionTitle } from "./held-sections.tsx"
import { SessionCard } from "./session-row.tsx"
import { type Grouping, type Section, type SessionEntry, sectionsOf } from "./session-sections.ts"

interface SessionBoardProps {
  readonly entries: readonly SessionEntry[]
  readonly grouping: Grouping
  /** Another one means that the reader asked for another board. */
  readonly filterKey: string
}

/** The sections side by side. Nothing is dragged: where a session stands is what the hub says of it. */
export function SessionBoard({ entries, grouping, filterKey }: SessionBoardProps) {
  const inner = useRef<HTMLDivElement>(null)
  const fresh = useMemo(() => sectionsOf(entries, grouping), [entries, grouping])
  const { sections, moved, release } = useHeldSections(fresh, inner, `board:${filterKey}:${grouping}`)
  return (
    <div data-region="content" className="relative flex min-h-0 flex-1 flex-col">
      <UpdateOrder moved={moved} onUpdate={release} />
      <div
        ref={inner}
        role="group"
        // A region that scrolls must be reachable by keyboard.
        tabIndex={0}
        aria-label="Board"
        className="flex min-h-0 flex-1 gap-3 overflow-x-auto p-3 tablet:px-6"
      >
        {sections.map((section) => (
          <Column key={section.key} section={section} />
        ))}
      </div>
    </div>
  )
}

/** From here on only the rows near the screen exist. */
const VIRTUAL_FROM = 20

function Column({ section }: { readonly section: Section }) {
  const { key, isFolder, entries } = section
  const title = useSectionTitle(section)
  const scroller = useRef<HTMLDivElement>(null)
  const rows = entries.map((entry) => <SessionCard key={entry.session.id} entry={entry} />)
  return (
    <section
      aria-label={title}
      className="flex min-h-0 w-72 shrink-0 flex-col rounded-card border border-line bg-sunken"
    >
      <h2
        className={classes(
          "flex items-baseline gap-1.5 px-3 pt-2 pb-1 text-meta font-bold text-text-2",
          !isFolder && "tracking-wide uppercase",
        )}
      >
        <bdi className={classes("min-w-0 truncate", key === "needs-you" && "text-caution")}>{title}</bdi>
        <span className="text-text-3 tabular-nums">{entries.length}</span>
      </h2>
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-2">
        <div role="list" aria-label={title} className="flex flex-col">
          {entries.length < VIRTUAL_FROM ? rows : <Virtualizer scrollRef={scroller}>{rows}</Virtualizer>}
        </div>
      </div>
    </section>
  )
}
