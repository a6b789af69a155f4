import type { Row } from "@signalbox/transcript"
import { type KeyboardEvent, type RefObject, useCallback, useRef, useState } from "react"
import type { VirtualizerHandle } from "virtua"
import { announce } from "../../app/announcer.tsx"
import { currentPlace, setQuery } from "../../app/router.tsx"
import { placeOf } from "../rows/row-place.ts"
import { openAll, useTranscript } from "../rows/transcript-context.tsx"
import type { TrackMark } from "../track/track-marks.ts"
import type { SessionFeed } from "../window/session-feed.ts"
import type { FollowInput } from "./follow.ts"
import { articleOf } from "./use-reading-place.ts"

const MARK_MS = 2000
/** Words want more time than an outline. */
const CLOSEST_MS = 6000

/** The row that was just gone to. */
interface MarkedRow {
  readonly key: string
  /** The event that was asked for has no row: this is the nearest. */
  readonly isClosest: boolean
}

interface JumpOptions {
  /** Whether the row gets the focus. Not for somebody who steers from elsewhere. */
  readonly focus?: boolean
  /** Whether it is told when only a neighbour can be shown. */
  readonly tellsClosest?: boolean
}

interface JumpPorts {
  readonly feed: SessionFeed
  readonly scroller: RefObject<HTMLElement | null>
  readonly list: RefObject<VirtualizerHandle | null>
  readonly send: (input: FollowInput) => void
  readonly marks: readonly TrackMark[]
}

export function useJumps({ feed, scroller, list, send, marks }: JumpPorts) {
  const { disclosures } = useTranscript()
  const [marked, setMarked] = useState<MarkedRow | undefined>(undefined)
  const outlined = useRef(marks)
  outlined.current = marks

  const goToRow = useCallback(
    (row: Row, { focus, isClosest }: { readonly focus: boolean; readonly isClosest: boolean }) => {
      send({ type: "hold" })
      const index = feed.view.get().rows.findIndex(({ key }) => key === row.key)
      if (index >= 0) list.current?.scrollToIndex(index, { align: "center" })
      const mark = { key: row.key, isClosest }
      setMarked(mark)
      setTimeout(() => setMarked((now) => (now === mark ? undefined : now)), isClosest ? CLOSEST_MS : MARK_MS)
      if (focus) focusRow(scroller, row.key)
      if (isClosest) announce("Closest visible event")
    },
    [feed, scroller, list, send],
  )

  /** Goes to an event, wherever it is in the log. */
  const jumpTo = useCallback(
    async (seq: number, { focus = true, tellsClosest = false }: JumpOptions = {}) => {
      send({ type: "hold" })
      if (!(await feed.jumpTo(seq))) return
      const { rows } = feed.view.get()
      const words = currentPlace().query.get("find") ?? ""
      const { index, opens, lane, isExact } = placeOf(rows, { seq, words, laneRows: (id) => feed.laneRows(id) })
      if (lane !== undefined) return setQuery({ lane }, { push: true })
      openAll(disclosures, opens)
      const row = rows[index]
      // The list must have the rows before it can go to one of them.
      if (row !== undefined) requestAnimationFrame(() => goToRow(row, { focus, isClosest: tellsClosest && !isExact }))
    },
    [feed, send, goToRow, disclosures],
  )

  const jumpToEnd = useCallback(() => {
    void feed.jumpToEnd().then((isMade) => isMade && send({ type: "to-end" }))
  }, [feed, send])

  /** To the message before or after what is in view. */
  const turn = useCallback(
    (step: -1 | 1) => {
      const { rows } = feed.view.get()
      const handle = list.current
      const at = handle?.findItemIndex(handle.scrollOffset + handle.viewportSize / 2) ?? 0
      const isBeyond = (place: number, here: number) => (step === 1 ? place > here : place < here)
      const nearest = <T>(found: readonly T[]) => (step === 1 ? found[0] : found.at(-1))
      const loaded = nearest(rows.filter((row, index) => row.kind === "prompt" && isBeyond(index, at)))
      if (loaded !== undefined) return goToRow(loaded, { focus: true, isClosest: false })
      // Not among what is loaded: the outline knows.
      const here = rows[at]?.headSeq ?? 0
      const next = nearest(outlined.current.filter(({ kind, seq }) => kind === "prompt" && isBeyond(seq, here)))
      if (next !== undefined) void jumpTo(next.seq)
    },
    [feed, list, goToRow, jumpTo],
  )
  return { marked, jumpTo, jumpToEnd, turn }
}

/** The row may not be drawn yet, or not be measured and so hidden: tried for a few frames, then left. */
function focusRow(scroller: RefObject<HTMLElement | null>, key: string, tries = 20): void {
  const article = scroller.current === null ? undefined : articleOf(scroller.current, key)
  article?.focus({ preventScroll: true })
  const isThere = article !== undefined && document.activeElement === article
  if (!isThere && tries > 0) requestAnimationFrame(() => focusRow(scroller, key, tries - 1))
}

/** Page keys go from article to article, Home and End to the ends of the log, with Ctrl out of it. */
export function onFeedKey(
  event: KeyboardEvent<HTMLElement>,
  { jumpToStart, jumpToEnd }: Readonly<Record<"jumpToStart" | "jumpToEnd", () => void>>,
): void {
  const target = event.target instanceof HTMLElement ? event.target : undefined
  // A part that scrolls by itself has these keys for itself.
  const isOthers = target?.matches("input, textarea, select, [contenteditable]") || target?.closest("[data-own-scroll]")
  if (isOthers) return
  const isMod = event.ctrlKey || event.metaKey
  if (event.key === "Home" && !isMod) jumpToStart()
  else if (event.key === "End" && !isMod) jumpToEnd()
  else if (event.key === "End" && isMod)
    document.querySelector<HTMLElement>('[data-region="composer"] textarea')?.focus()
  else if (event.key === "Home" && isMod) firstSeen("#main header button")?.focus()
  else if (event.key === "PageDown" || event.key === "PageUp")
    stepArticle(event.currentTarget, event.key === "PageDown" ? 1 : -1)
  else return
  event.preventDefault()
}

/** The first that is visible: elements of other widths are in the page too, and cannot have the focus. */
function firstSeen(selector: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(selector)].find((element) => element.checkVisibility())
}

/** Frames in which a row that is to be gone to may still be drawn. */
const MAX_FRAMES = 20

function stepArticle(feed: HTMLElement, step: 1 | -1, frames = MAX_FRAMES): void {
  const articles = [...feed.querySelectorAll<HTMLElement>(":scope article")]
  const { top } = feed.getBoundingClientRect()
  const active = document.activeElement?.closest("article")
  const at = articles.findIndex((article) => article === active)
  const visible = articles.findIndex((article) => article.getBoundingClientRect().bottom > top + 8)
  const next = articles[at === -1 ? visible : at + step]
  if (next !== undefined) {
    next.focus({ preventScroll: true })
    bringIntoView(feed, next)
    return
  }
  // The list draws a little more than is seen, and after the view has moved: whoever is faster waits for it.
  const isMore = step === -1 ? feed.scrollTop > 0 : feed.scrollTop + feed.clientHeight < feed.scrollHeight - 1
  if (isMore && frames > 0) requestAnimationFrame(() => stepArticle(feed, step, frames - 1))
}

/** Older rows that come in at the same moment move the view by what it was before: then it is brought there again. */
function bringIntoView(feed: HTMLElement, row: HTMLElement, frames = MAX_FRAMES): void {
  const [view, box] = [feed.getBoundingClientRect(), row.getBoundingClientRect()]
  if (frames === MAX_FRAMES || box.bottom <= view.top || box.top >= view.bottom)
    row.scrollIntoView({ block: "nearest" })
  requestAnimationFrame(() => {
    if (frames > 0 && document.activeElement === row) bringIntoView(feed, row, frames - 1)
  })
}
