import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useMemo, useRef, useState } from "react"
import { useValue, type ValueStore } from "../../app/value-store.ts"
import { classes } from "../../design/classes.ts"
import { clockTime } from "../../design/words.ts"
import { drawnMarks, nearestMark, seqAt, shareOf, steppedSeq, type TrackBounds, type TrackMark } from "./track-marks.ts"

/** The part in view. */
export interface TrackPosition {
  readonly from: number
  readonly to: number
  /** The event in the middle, and when it was. */
  readonly seq: number
  readonly at: string
}

interface SessionTrackProps {
  readonly bounds: TrackBounds
  readonly position: ValueStore<TrackPosition>
  readonly marks: readonly TrackMark[]
  /** Only of what is loaded. */
  readonly isPartial: boolean
  readonly onJump: (seq: number) => void
}

/** So near to a mark, it is the mark that is meant. */
const REACH_PX = 5
const MIN_THUMB = 0.012

/** The whole session from its first event to its last, beside the part that is in view. */
export function SessionTrack({ bounds, position, marks, isPartial, onJump }: SessionTrackProps) {
  const rail = useRef<HTMLDivElement>(null)
  const heightPx = useHeight(rail)
  const inView = useValue(position)
  /** Where somebody goes with keys or the pointer: counted from there, not from where the view could follow to. */
  const [aim, setAim] = useState<{ readonly seq: number; readonly from: TrackPosition } | undefined>(undefined)
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  const [isDragged, setDragged] = useState(false)
  const drawn = useMemo(() => drawnMarks(marks, bounds, heightPx), [marks, bounds, heightPx])
  // Until the view is there, and while it shows that place; once the reader scrolls on, what is in view counts.
  const isAimed =
    aim !== undefined && (isDragged || aim.from === inView || (aim.seq >= inView.from && aim.seq <= inView.to))
  const seq = isAimed ? aim.seq : inView.seq
  const top = shareOf(isDragged && aim !== undefined ? aim.seq : inView.from, bounds)
  const size = Math.max(MIN_THUMB, shareOf(inView.to, bounds) - shareOf(inView.from, bounds))

  const shareAt = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect()
    return (event.clientY - box.top) / box.height
  }
  const seqOf = (share: number) =>
    nearestMark(drawn, share, REACH_PX / Math.max(1, heightPx))?.seq ?? seqAt(share, bounds)
  const goTo = (next: number) => {
    setAim({ seq: next, from: inView })
    onJump(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = steppedSeq(seq, event.key, bounds)
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    goTo(next)
  }

  return (
    <div className="relative hidden w-4 shrink-0 border-s border-line bg-sunken desktop:block">
      <div
        ref={rail}
        role="slider"
        tabIndex={0}
        aria-label="Position in session"
        aria-orientation="vertical"
        aria-valuemin={bounds.firstSeq}
        aria-valuemax={bounds.lastSeq}
        aria-valuenow={seq}
        aria-valuetext={valueText({ seq, at: inView.at, lastSeq: bounds.lastSeq })}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDragged(true)
          setAim({ seq: seqOf(shareAt(event)), from: inView })
        }}
        onPointerMove={(event) => {
          setPointed(shareAt(event))
          if (isDragged) setAim({ seq: seqOf(shareAt(event)), from: inView })
        }}
        onPointerUp={(event) => {
          if (isDragged) goTo(seqOf(shareAt(event)))
          setDragged(false)
        }}
        onPointerCancel={() => setDragged(false)}
        onPointerLeave={() => setPointed(undefined)}
        className="absolute inset-x-0 inset-y-1 cursor-pointer touch-none focus-visible:-outline-offset-2"
      >
        <span
          aria-hidden="true"
          style={{ transform: `translateY(${top * heightPx}px)`, height: `${size * heightPx}px` }}
          className="absolute inset-x-0.5 top-0 rounded-mark bg-edge/45"
        />
        {drawn.map((mark) => (
          <Mark key={mark.seq} kind={mark.kind} offsetPx={mark.share * heightPx} />
        ))}
      </div>
      {pointed !== undefined && (
        <Pointed
          share={pointed}
          text={pointedText(seqOf(pointed), nearestMark(drawn, pointed, REACH_PX / Math.max(1, heightPx)), isPartial)}
        />
      )}
    </div>
  )
}

/** Told apart by shape as well as by colour. */
const SHAPES: Readonly<Record<TrackMark["kind"], string>> = {
  prompt: "inset-x-1 h-0.5 bg-accent",
  ask: "left-1 size-1.5 rotate-45 bg-caution",
  error: "right-1 h-2 w-1 -translate-y-1/2 bg-danger",
  compaction: "inset-x-0 border-t border-dashed border-edge",
}

/** Moved, not laid out anew: the session grows all the time. */
function Mark({ kind, offsetPx }: { readonly kind: TrackMark["kind"]; readonly offsetPx: number }) {
  return (
    <span
      aria-hidden="true"
      data-mark={kind}
      style={{ transform: `translateY(${offsetPx}px)` }}
      className="pointer-events-none absolute inset-x-0 top-0"
    >
      <span className={classes("absolute", SHAPES[kind])} />
    </span>
  )
}

function Pointed({ share, text }: { readonly share: number; readonly text: string }) {
  return (
    <p
      aria-hidden="true"
      style={{ top: `clamp(0px, calc(${share * 100}% - 0.875rem), calc(100% - 1.75rem))` }}
      className="pointer-events-none absolute right-5 z-10 max-w-80 truncate rounded-control border border-line bg-raised px-2 py-1 text-meta whitespace-nowrap text-text shadow-popover"
    >
      <bdi>{text}</bdi>
    </p>
  )
}

const KIND_WORDS: Readonly<Record<TrackMark["kind"], string>> = {
  prompt: "Message",
  ask: "Asked",
  error: "Error",
  compaction: "Compacted",
}

function pointedText(seq: number, mark: TrackMark | undefined, isPartial: boolean): string {
  const what = mark === undefined ? "" : ` · ${KIND_WORDS[mark.kind]}${mark.label === "" ? "" : `: ${mark.label}`}`
  return `${eventName(seq)}${what}${isPartial ? " · loaded part only" : ""}`
}

function valueText({ seq, at, lastSeq }: { seq: number; at: string; lastSeq: number }): string {
  const ms = Date.parse(at)
  const time = Number.isNaN(ms) ? "" : `, ${clockTime(ms, { seconds: true })}`
  return `${eventName(seq)}${seq > 0 ? ` of ${lastSeq.toLocaleString("en")}` : ""}${time}`
}

/** History that a fork began with has numbers below its own. */
function eventName(seq: number): string {
  return seq > 0 ? `Event ${seq.toLocaleString("en")}` : "Before the fork"
}

function useHeight(element: React.RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0)
  useLayoutEffect(() => {
    const watched = element.current
    if (watched === null) return undefined
    const observer = new ResizeObserver(() => setHeight(watched.clientHeight))
    observer.observe(watched)
    return () => observer.disconnect()
  }, [element])
  return height
}
