import { useMemo, useRef, useState } from "react"
import { Virtualizer } from "virtua"
import { classes } from "../design/classes.ts"
import { NextIcon } from "../design/icons.tsx"
import { UpdateOrder, useHeldSections, useSectionTitle } from "./held-sections.tsx"
import { SessionRow } from "./session-row.tsx"
import { type Grouping, type Section, type SessionEntry, sectionsOf } from "./session-sections.ts"

interface SessionListProps {
  readonly entries: readonly SessionEntry[]
  readonly grouping: Grouping
  /** Another one means that the reader asked for another list. */
  readonly filterKey: string
  readonly compact?: boolean
  readonly currentId?: string
  /** What goes along to the session that is opened: `?q=…`. */
  readonly search?: string
}

/** From here on only the rows near the screen exist. */
const VIRTUAL_FROM = 60
const QUIET_SECTIONS = new Set(["idle", "ended"])

export function SessionList(props: SessionListProps) {
  const { entries, grouping, filterKey, compact = false, currentId, search = "" } = props
  const scroller = useRef<HTMLDivElement>(null)
  const inner = useRef<HTMLDivElement>(null)
  const [closed, setClosed] = useState<ReadonlySet<string>>(
    () => new Set(compact && search === "" ? QUIET_SECTIONS : []),
  )
  const fresh = useMemo(() => sectionsOf(entries, grouping), [entries, grouping])
  const { sections, moved, release } = useHeldSections(fresh, inner, `${filterKey}:${grouping}`)
  // The group of the open session is open when it comes there; whoever closes it then has it closed.
  const [openedFor, setOpenedFor] = useState<string | undefined>(undefined)
  const here = sections.find((section) => section.entries.some(({ session }) => session.id === currentId))?.key
  const wanted = here === undefined ? undefined : `${currentId}:${here}`
  if (wanted !== openedFor) {
    setOpenedFor(wanted)
    if (here !== undefined) setClosed(new Set([...closed].filter((key) => key !== here)))
  }
  const toggle = (key: string) => {
    const next = new Set(closed)
    if (!next.delete(key)) next.add(key)
    setClosed(next)
  }
  return (
    // What is gone to by keys comes to stand below its section's heading, not under it.
    <div
      ref={scroller}
      data-region="content"
      className="relative min-h-0 flex-1 scroll-pt-9 overflow-y-auto overscroll-contain coarse:scroll-pt-12"
    >
      <UpdateOrder moved={moved} onUpdate={release} />
      <div ref={inner} className={classes("mx-auto max-w-5xl pb-4", compact ? "px-1" : "px-2 tablet:px-4")}>
        {sections.map((section) => (
          <SectionView
            key={section.key}
            section={section}
            open={!closed.has(section.key)}
            onToggle={() => toggle(section.key)}
            compact={compact}
            currentId={currentId}
            search={search}
            scroller={scroller}
          />
        ))}
      </div>
    </div>
  )
}

interface SectionViewProps {
  readonly section: Section
  readonly open: boolean
  readonly onToggle: () => void
  readonly compact: boolean
  readonly currentId: string | undefined
  readonly search: string
  readonly scroller: React.RefObject<HTMLDivElement | null>
}

function SectionView({ section, open, onToggle, compact, currentId, search, scroller }: SectionViewProps) {
  const { key, isFolder, entries } = section
  const title = useSectionTitle(section)
  const start = useRef<HTMLDivElement>(null)
  const rows = entries.map((entry) => (
    <SessionRow
      key={entry.session.id}
      entry={entry}
      compact={compact}
      current={entry.session.id === currentId}
      search={search}
    />
  ))
  return (
    <section aria-label={title}>
      <h2 className="sticky top-0 z-5 bg-canvas">
        <button
          type="button"
          aria-expanded={open}
          onClick={onToggle}
          className={classes(
            "flex w-full items-center gap-1.5 rounded-control px-(--row-pad) pt-3 pb-1 coarse:min-h-11 text-start text-meta font-bold text-text-2",
            !isFolder && "tracking-wide uppercase",
          )}
        >
          <NextIcon size={12} className={classes(open && "rotate-90")} />
          <bdi className={classes(key === "needs-you" && "text-caution")}>{title}</bdi>
          <span className="text-text-3 tabular-nums">{entries.length}</span>
        </button>
      </h2>
      {open && (
        <div ref={start} role="list" aria-label={title} className="flex flex-col">
          {entries.length < VIRTUAL_FROM ? (
            rows
          ) : (
            <Virtualizer scrollRef={scroller} startMargin={start.current?.offsetTop ?? 0}>
              {rows}
            </Virtualizer>
          )}
        </div>
      )}
    </section>
  )
}
