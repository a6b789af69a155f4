import { createContext, type ReactNode, useContext, useEffect, useId, useRef, useState } from "react"
import { classes } from "../../design/classes.ts"
import { readOn } from "../answer/read-on.ts"

interface BodyBoxProps {
  readonly label: string
  readonly gate: SeenGate
  readonly className?: string
  /** The request, with a `RequestEnd` where it ends; notes may follow. */
  readonly children: ReactNode
}

/** The request itself. It gives way to the buttons below it, and scrolls; its end is watched. */
export function BodyBox({ label, gate, className, children }: BodyBoxProps) {
  return (
    <div
      // A region that scrolls must be reachable without a pointer.
      tabIndex={0}
      role="group"
      aria-label={label}
      className={classes(
        // Nothing in it may give way instead: what is squeezed out of sight would count as seen. What is only read aloud stays inside.
        "relative flex min-h-14 flex-col gap-2 overflow-y-auto rounded-control *:shrink-0",
        gate.isShowingAll && "shrink-0",
        className,
      )}
    >
      <WatchedEnd value={gate.end}>{children}</WatchedEnd>
    </div>
  )
}

const WatchedEnd = createContext<SeenGate["end"] | undefined>(undefined)

/** The end of what somebody decides on. Notes that follow it need not be seen. */
export function RequestEnd() {
  return <div ref={useContext(WatchedEnd)} data-request-end className="-mt-2 h-px shrink-0" />
}

export interface SeenGate {
  /** For what stands at the end. */
  readonly end: (element: HTMLElement | null) => void
  /** The whole of it was on the screen, or it was short enough to be. */
  readonly isOpen: boolean
  /** A press on the button: reads on until the end was seen, then answers. */
  readonly press: (answer: () => unknown) => void
  /** Undefined where there is too much to show at once. */
  readonly showAll: (() => void) | undefined
  readonly isShowingAll: boolean
  /** Id of the hint that says why nothing can be allowed yet. */
  readonly hintId: string
}

/** A press that follows a page so soon was meant for the page before. */
const AFTER_PAGE_MS = 400

/**
 * A request that is longer than its box must be seen to its end before it can be allowed. Another content begins anew. `isLong`: only
 * what is in view is drawn, so that nothing but scrolling shows it.
 */
export function useSeenGate(contentKey: string, isLong = false): SeenGate {
  const [sentinel, setSentinel] = useState<HTMLElement | null>(null)
  const [seenKey, setSeenKey] = useState<string | undefined>(undefined)
  const [shownKey, setShownKey] = useState<string | undefined>(undefined)
  const pagedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (sentinel === null) return undefined
    let isOnScreen = false
    let waiting = 0
    const look = () => {
      cancelAnimationFrame(waiting)
      if (!isOnScreen || isCovered(sentinel)) return
      if (isDrawnBefore(sentinel)) setSeenKey(contentKey)
      // The last lines are drawn in a moment, and may push the end out of view.
      else waiting = requestAnimationFrame(look)
    }
    // Within the screen, not only within its box: what the box itself is in may be scrolled too.
    const observer = new IntersectionObserver((entries) => {
      isOnScreen = entries.at(-1)?.isIntersecting === true
      look()
    })
    observer.observe(sentinel)
    addEventListener("scroll", look, { capture: true, passive: true })
    addEventListener("resize", look)
    return () => {
      cancelAnimationFrame(waiting)
      observer.disconnect()
      removeEventListener("scroll", look, { capture: true })
      removeEventListener("resize", look)
    }
  }, [sentinel, contentKey])
  const isShowingAll = shownKey === contentKey
  const isOpen = seenKey === contentKey || (isShowingAll && !isLong)
  return {
    hintId: useId(),
    end: setSentinel,
    isOpen,
    isShowingAll,
    press(answer) {
      const now = performance.now()
      const isSoon = now - pagedAt.current < AFTER_PAGE_MS
      if (isOpen && !isSoon) answer()
      if (isOpen || sentinel === null) return
      pagedAt.current = now
      readOn(sentinel, "page")
    },
    showAll: isLong ? undefined : () => setShownKey(contentKey),
  }
}

/** On a small screen the buttons lie over what is asked until it is scrolled. */
function isCovered(sentinel: HTMLElement): boolean {
  const bar = sentinel.closest("[data-ask]")?.querySelector("[data-actions]")
  return bar !== null && bar !== undefined && sentinel.getBoundingClientRect().top > bar.getBoundingClientRect().top
}

/** The lines right before the end are there, not only the room for them. */
function isDrawnBefore(sentinel: HTMLElement): boolean {
  const last = sentinel.previousElementSibling?.querySelector("[data-piece]:last-child")
  return last === null || last === undefined || last.hasAttribute("data-drawn")
}
