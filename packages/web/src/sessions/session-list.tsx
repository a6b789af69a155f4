import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { Virtualizer } from "virtua"
import { useRoving } from "../app/roving.ts"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { NextIcon } from "../design/icons.tsx"
import { abbreviateHome, useMachineHome } from "../fleet/machine-store.tsx"
import { useStatusWords } from "../fleet/session-status.tsx"
import { listed, selection, setSelectionOrder } from "./selection.ts"
import { SESSION_ROWS } from "./session-actions.ts"
import { SessionCard, SessionRow } from "./session-row.tsx"
import { type Grouping, heldSections, type Section, type SessionEntry, sectionsOf } from "./session-sections.ts"

interface ViewProps {
  readonly entries: readonly SessionEntry[]
  readonly grouping: Grouping
  /** Another one means that the reader asked for another list. */
  readonly filterKey: string
}

interface SessionListProps extends ViewProps {
  readonly compact?: boolean
  readonly currentId?: string
  /** The query that goes along to the session that is opened: `?q=…`. */
  readonly search?: string
}

/** Sections this long draw only the rows near the screen. */
const VIRTUAL_FROM = { list: 60, board: 20 }
const QUIET_SECTIONS = new Set(["idle", "ended"])

export function SessionList(props: SessionListProps) {
  const { compact = false, currentId, search = "" } = props
  const scroller = useRef<HTMLDivElement>(null)
  const inner = useRef<HTMLDivElement>(null)
  const [closed, setClosed] = useState<ReadonlySet<string>>(
    () => new Set(compact && search === "" ? QUIET_SECTIONS : []),
  )
  const { sections, moved, release } = useHeldSections(props, inner)
  const { ref: rovingRef } = useRoving(LIST_ROWS)
  useSelectionOrder(compact ? undefined : sections, closed)
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
    // A row that is gone to by keys comes to stand below its section's heading, not under it.
    <div
      ref={scroller}
      data-region="content"
      className="relative min-h-0 flex-1 scroll-pt-10 overflow-y-auto overscroll-contain coarse:scroll-pt-12"
    >
      <UpdateOrder moved={moved} onUpdate={release} />
      <div
        ref={useBothRefs(inner, rovingRef)}
        className={classes("mx-auto max-w-5xl pb-4", compact ? "px-1" : "px-2 tablet:px-4")}
      >
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
  readonly scroller: RefObject<HTMLDivElement | null>
}

function SectionView({ section, open, onToggle, compact, currentId, search, scroller }: SectionViewProps) {
  const { key, entries } = section
  const title = useSectionTitle(section)
  const start = useRef<HTMLDivElement>(null)
  const row = (entry: SessionEntry) => (
    <SessionRow
      key={entry.session.id}
      entry={entry}
      compact={compact}
      current={entry.session.id === currentId}
      search={search}
    />
  )
  return (
    <section aria-label={title}>
      <h2 data-section className="sticky top-0 z-5 bg-canvas">
        <button
          type="button"
          aria-expanded={open}
          onClick={onToggle}
          className="flex w-full items-center gap-1.5 rounded-control px-(--row-pad) pt-4 pb-1 coarse:min-h-11 text-start text-dense font-medium text-text-2 hover:text-text"
        >
          <NextIcon size={12} className={classes(open && "rotate-90")} />
          <bdi className={classes(key === "needs-you" && "text-caution")}>{title}</bdi>
          <span className="font-normal text-text-3 tabular-nums">{entries.length}</span>
        </button>
      </h2>
      {open && (
        <div ref={start} role="list" aria-label={title} className="flex flex-col">
          {entries.length < VIRTUAL_FROM.list ? (
            entries.map(row)
          ) : (
            <Virtualizer scrollRef={scroller} startMargin={start.current?.offsetTop ?? 0} data={entries}>
              {row}
            </Virtualizer>
          )}
        </div>
      )}
    </section>
  )
}

/** The sections side by side. Nothing is dragged: where a session stands is what the hub says of it. */
export function SessionBoard(props: ViewProps) {
  const inner = useRef<HTMLDivElement>(null)
  const { sections, moved, release } = useHeldSections(props, inner)
  useSelectionOrder(sections, NONE_CLOSED)
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

function Column({ section }: { readonly section: Section }) {
  const { key, entries } = section
  const title = useSectionTitle(section)
  const scroller = useRef<HTMLDivElement>(null)
  // A column scrolls by itself: each has its own stop.
  const { ref } = useRoving(SESSION_ROWS)
  const row = (entry: SessionEntry) => <SessionCard key={entry.session.id} entry={entry} />
  return (
    <section
      aria-label={title}
      className="flex min-h-0 w-72 shrink-0 flex-col rounded-card border border-line bg-sunken"
    >
      <h2 className="flex items-baseline gap-1.5 px-3 pt-3 pb-2 text-dense font-medium text-text-2">
        <bdi className={classes("min-w-0 truncate", key === "needs-you" && "text-caution")}>{title}</bdi>
        <span className="font-normal text-text-3 tabular-nums">{entries.length}</span>
      </h2>
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-2">
        <div ref={ref} role="list" aria-label={title} className="flex flex-col">
          {entries.length < VIRTUAL_FROM.board ? (
            entries.map(row)
          ) : (
            <Virtualizer scrollRef={scroller} data={entries}>
              {row}
            </Virtualizer>
          )}
        </div>
      </div>
    </section>
  )
}

/** While pointer or focus is in the list, no row moves under it. What waits is offered by a button. */
function useHeldSections({ entries, grouping, filterKey }: ViewProps, list: RefObject<HTMLElement | null>) {
  const key = `${filterKey}:${grouping}`
  const fresh = useMemo(() => sectionsOf(entries, grouping), [entries, grouping])
  const [isInside, setInside] = useState(false)
  const shown = useRef<{ key: string; sections: readonly Section[] }>({ key, sections: fresh })
  const [, redraw] = useState(0)

  useEffect(() => {
    const element = list.current
    if (element === null) return undefined
    const ending = new AbortController()
    const inside = { pointer: false, focus: false }
    const { signal } = ending
    const note = (change: Partial<typeof inside>) => {
      Object.assign(inside, change)
      setInside(inside.pointer || inside.focus)
    }
    const isOwn = (to: EventTarget | null) => to instanceof Node && element.contains(to)
    element.addEventListener("pointerenter", (event) => note({ pointer: event.pointerType !== "touch" }), { signal })
    element.addEventListener("pointerleave", () => note({ pointer: false }), { signal })
    element.addEventListener("focusin", () => note({ focus: true }), { signal })
    element.addEventListener("focusout", (event) => note({ focus: isOwn(event.relatedTarget) }), { signal })
    return () => ending.abort()
  }, [list])

  const held = useMemo(() => {
    const before = shown.current
    // Another filter is another list: the reader asked for it.
    if (!isInside || before.key !== key || before.sections.length === 0) return { sections: fresh, moved: 0 }
    return heldSections(before.sections, fresh)
  }, [fresh, isInside, key])
  shown.current = { key, sections: held.sections }
  const release = () => {
    shown.current = { key: "", sections: [] }
    redraw((count) => count + 1)
  }
  return { ...held, release }
}

/** Offered while rows are held where they stand. It takes no room: nothing moves when it comes. */
function UpdateOrder({ moved, onUpdate }: { readonly moved: number; readonly onUpdate: () => void }) {
  if (moved === 0) return null
  return (
    <div className="pointer-events-none sticky top-1 z-10 flex h-0 justify-center">
      <Button onClick={onUpdate} className="pointer-events-auto h-8 shadow-popover">
        Update order, {moved} moved
      </Button>
    </div>
  )
}

/** Arrows stop at the rows and at the headings, which fold their section. */
const LIST_ROWS = "[data-session], [data-section]"
const NONE_CLOSED: ReadonlySet<string> = new Set()

/** Tells what a range runs through. Sessions that left the list are not selected any more. */
function useSelectionOrder(sections: readonly Section[] | undefined, closed: ReadonlySet<string>): void {
  useEffect(() => {
    if (sections === undefined) return
    const idsOf = (section: Section) => section.entries.map(({ session }) => session.id)
    setSelectionOrder(() => sections.filter(({ key }) => !closed.has(key)).flatMap(idsOf))
    const { ids } = selection.get()
    if (ids.size > 0) selection.set(listed(selection.get(), new Set(sections.flatMap(idsOf))))
  }, [sections, closed])
}

type CleanRef = (element: HTMLElement | null) => (() => void) | undefined

function useBothRefs(own: RefObject<HTMLDivElement | null>, other: CleanRef) {
  return useCallback(
    (element: HTMLDivElement | null) => {
      own.current = element
      return other(element)
    },
    [own, other],
  )
}

/** A folder is written from home, as in the rows. */
function useSectionTitle({ key, title, isFolder, entries }: Section): string {
  const words = useStatusWords()
  const home = useMachineHome(isFolder ? (entries[0]?.session.runner ?? null) : null)
  if (key === "needs-you") return words[key]
  return isFolder ? abbreviateHome(title, home) : title
}
