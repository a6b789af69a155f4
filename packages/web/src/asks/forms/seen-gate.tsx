import { createContext, type ReactNode, useContext, useEffect, useId, useRef, useState } from "react"
import { classes } from "../../design/classes.ts"
import { type EndSeen, MOMENT_MS, pressed, stepEnd } from "../answer/end-seen.ts"
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
      data-decision
      data-whole={gate.isShowingAll || undefined}
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
  readonly state: EndSeen["name"]
  /** The end was on the screen long enough: it can be allowed. */
  readonly isOpen: boolean
  /** A press on the button: reads on until the end was seen, then answers. */
  readonly press: (answer: () => unknown) => void
  /** Undefined where it is done, or where there is too much to show at once. */
  readonly showAll: (() => void) | undefined
  readonly isShowingAll: boolean
  /** Id of the hint that says why nothing can be allowed yet. */
  readonly hintId: string
}

/**
 * A request that is longer than its box must be seen to its end before it can be allowed. Another content begins anew. `isLong`: only
 * what is in view is drawn, so that nothing but scrolling shows it.
 */
export function useSeenGate(contentKey: string, isLong = false): SeenGate {
  const [sentinel, setSentinel] = useState<HTMLElement | null>(null)
  const [known, setKnown] = useState<{ readonly of: string; readonly state: EndSeen["name"] } | undefined>(undefined)
  const [shownKey, setShownKey] = useState<string | undefined>(undefined)
  const pagedAt = useRef(Number.NEGATIVE_INFINITY)
  const state = known?.of === contentKey ? known.state : "new"
  const isOpen = state === "seen"
  useEffect(() => {
    if (sentinel === null || isOpen) return undefined
    return watchEnd(sentinel, (next) => setKnown({ of: contentKey, state: next }))
  }, [sentinel, contentKey, isOpen])
  const isShowingAll = shownKey === contentKey
  const showAll = () => {
    setShownKey(contentKey)
    // The button is gone with its hint.
    sentinel?.closest<HTMLElement>("[data-decision]")?.focus()
  }
  return {
    hintId: useId(),
    end: setSentinel,
    state,
    isOpen,
    isShowingAll,
    press(answer) {
      const press = pressed({ end: state, pagedAt: pagedAt.current, at: performance.now() })
      pagedAt.current = press.pagedAt
      if (press.does === "answers") answer()
      else if (press.does === "reads on" && sentinel !== null) readOn(sentinel, "page")
    },
    showAll: isLong || isShowingAll ? undefined : showAll,
  }
}

/** Tells how far the end was seen, whenever that changes. */
function watchEnd(sentinel: HTMLElement, tell: (state: EndSeen["name"]) => void): () => void {
  let state: EndSeen = { name: "new" }
  let isOnScreen: boolean | undefined
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    if (isOnScreen === undefined) return
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    const isPlain = isOnScreen && document.visibilityState === "visible" && !isCovered(sentinel)
    const isInView = isPlain && isDrawnBefore(sentinel)
    const before = state.name
    state = stepEnd(state, { isInView, at: performance.now() })
    if (state.name !== before) tell(state.name)
    if (state.name === "looking") timer = setTimeout(look, state.since + MOMENT_MS - performance.now())
    // The last lines are drawn in a moment, and may push the end out of view.
    else if (isPlain && !isInView) frame = requestAnimationFrame(look)
  }
  // Within the screen, not only within its box: what the box itself is in may be scrolled too.
  const observer = new IntersectionObserver((entries) => {
    isOnScreen = entries.at(-1)?.isIntersecting === true
    look()
  })
  observer.observe(sentinel)
  const leaving = new AbortController()
  const { signal } = leaving
  addEventListener("scroll", look, { capture: true, passive: true, signal })
  addEventListener("resize", look, { signal })
  document.addEventListener("visibilitychange", look, { signal })
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    observer.disconnect()
    leaving.abort()
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
