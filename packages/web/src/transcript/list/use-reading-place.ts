import { type RefObject, useEffect, useLayoutEffect, useRef } from "react"
import type { VirtualizerHandle } from "virtua"
import { usePlace } from "../../app/router.tsx"
import { placeOf } from "../rows/row-place.ts"
import { useTranscript } from "../rows/transcript-context.tsx"
import type { SessionFeed } from "../window/session-feed.ts"
import type { FollowInput } from "./follow.ts"
import { forgetPlace, keepPlace, keptPlace, type ReadingPlace } from "./reading-place.ts"

type RowPlace = Extract<ReadingPlace, { readonly at: "row" }>

interface ReadingPorts {
  readonly feed: SessionFeed
  readonly scroller: RefObject<HTMLElement | null>
  readonly list: RefObject<VirtualizerHandle | null>
  readonly lane: string | null
  readonly isFollowing: boolean
  readonly send: (input: FollowInput) => void
  /** The place where it was left, when one comes back to it. */
  readonly start: ReadingPlace | undefined
  /** The event that the address names; 0 for none. */
  readonly goTo: number
  /** Nothing better is known than what the address says. */
  readonly onAddress: (seq: number) => void
}

/** Keeps where the reader is for when they come Back, and brings them there. */
export function useReadingPlace(ports: ReadingPorts): void {
  const { feed, scroller, list, lane, send, start, goTo, onAddress } = ports
  const { sessionId: session } = useTranscript()
  const { entry } = usePlace()
  const isFollowing = useRef(ports.isFollowing)
  isFollowing.current = ports.isFollowing

  // Before anything is painted. Then until all that stands above has been measured.
  useLayoutEffect(() => {
    if (start?.at !== "row") return undefined
    return stayAt(start, { feed, scroller, list })
  }, [start, feed, scroller, list])

  const shown = useRef(start === undefined ? 0 : goTo)
  useEffect(() => {
    const place = keptPlace({ entry, session, lane })
    forgetPlace({ entry, session, lane })
    if (goTo === shown.current) return undefined
    shown.current = goTo
    if (place?.at !== "row") {
      if (goTo > 0) onAddress(goTo)
      return undefined
    }
    // Another event of the same session was looked at meanwhile.
    const leaving = new AbortController()
    send({ type: "hold" })
    const go = async () => {
      if (!(await feed.jumpTo(place.seq)) || leaving.signal.aborted) return
      leaving.signal.addEventListener("abort", stayAt(place, { feed, scroller, list }))
    }
    void go()
    return () => leaving.abort()
  }, [entry, session, lane, goTo, feed, scroller, list, send, onAddress])

  useLayoutEffect(
    () => () => {
      const place = isFollowing.current ? ({ at: "end" } as const) : placeIn(scroller.current)
      if (place !== undefined) keepPlace({ entry, session, lane }, place)
    },
    [entry, session, lane, scroller],
  )
}

/** The first row that begins in view; of a row that fills it, where it is. */
function placeIn(scroller: HTMLElement | null): ReadingPlace | undefined {
  if (scroller === null) return undefined
  const { top, bottom } = scroller.getBoundingClientRect()
  const rows = [...scroller.querySelectorAll<HTMLElement>("article[data-key]")].map((article) => ({
    article,
    box: article.getBoundingClientRect(),
  }))
  const inView = rows.filter(({ box }) => box.bottom > top && box.top < bottom)
  const anchor = inView.find(({ box }) => box.top >= top) ?? inView[0]
  if (anchor === undefined) return undefined
  const { key = "", seq = "0" } = anchor.article.dataset
  return { at: "row", key, seq: Number(seq), offsetPx: anchor.box.top - top }
}

/** About a second: by then what stands above is measured. */
const SETTLE_FRAMES = 60
const READER_ACTS = ["wheel", "touchstart", "keydown", "pointerdown"] as const

/** Brings a row back to where it was, and again while what stands around it is measured. What the reader does ends it. */
function stayAt(place: RowPlace, list: Pick<ReadingPorts, "feed" | "scroller" | "list">): () => void {
  let frames = SETTLE_FRAMES
  let next = 0
  const stop = () => {
    cancelAnimationFrame(next)
    for (const act of READER_ACTS) removeEventListener(act, stop, { capture: true })
  }
  const settle = () => {
    bring(place, list)
    if (--frames > 0) next = requestAnimationFrame(settle)
    else stop()
  }
  for (const act of READER_ACTS) addEventListener(act, stop, { capture: true, passive: true })
  settle()
  return stop
}

function bring(place: RowPlace, { feed, scroller, list }: Pick<ReadingPorts, "feed" | "scroller" | "list">): void {
  const [element, handle] = [scroller.current, list.current]
  if (element === null || handle === null) return
  const { rows } = feed.view.get()
  const own = rows.findIndex(({ key }) => key === place.key)
  const index = own >= 0 ? own : placeOf(rows, { seq: place.seq, laneRows: (id) => feed.laneRows(id) }).index
  const drawn = articleOf(element, rows[index]?.key)
  const top = drawn === undefined ? handle.getItemOffset(index) - element.scrollTop : topIn(element, drawn)
  // Less than a pixel is how the browser rounds.
  if (Math.abs(top - place.offsetPx) >= 1) element.scrollTop += top - place.offsetPx
}

function topIn(scroller: HTMLElement, row: HTMLElement): number {
  return row.getBoundingClientRect().top - scroller.getBoundingClientRect().top
}

/** The element of a row, if it is drawn. */
export function articleOf(scroller: HTMLElement, key: string | undefined): HTMLElement | undefined {
  return [...scroller.querySelectorAll<HTMLElement>("article")].find(({ dataset }) => dataset["key"] === key)
}
