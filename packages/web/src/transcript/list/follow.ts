import type { Row } from "@signalbox/transcript"
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react"

/** Whether the view runs along with what is said. Only the reader starts or stops it; layout never does. */

interface ScrollFacts {
  readonly top: number
  readonly distanceToEnd: number
}

export type FollowInput =
  /** It scrolled while the reader held the scrollbar, or soon after a wheel, a touch or a key. */
  | { readonly type: "moved"; readonly from: ScrollFacts; readonly to: ScrollFacts }
  /** The reader turns upward, or opened, selected or went to something: they are busy here. */
  | { readonly type: "hold" }
  | { readonly type: "to-end" }

/** So close to the end is at the end. */
const NEAR_END_PX = 24

export function stepFollow(isFollowing: boolean, input: FollowInput): boolean {
  switch (input.type) {
    case "hold":
      return false
    case "to-end":
      return true
    case "moved":
      // At the end what becomes shorter moves the view up by itself: that is no wish to leave.
      if (input.to.top <= input.from.top - 1 && input.to.distanceToEnd > NEAR_END_PX) return false
      return isFollowing || (input.to.top > input.from.top && input.to.distanceToEnd <= NEAR_END_PX)
  }
}

/** After a wheel, a touch or a key, what scrolls for this long is the reader's doing. */
const INTENT_MS = 400
/** Home and End are jumps of ours: while the list measures what it shows then, its scrolling back and forth is nobody's wish. */
const KEYS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", " "])
const UP_KEYS = new Set(["ArrowUp", "PageUp", "Home"])

function factsOf(element: HTMLElement): ScrollFacts {
  const { scrollTop: top, scrollHeight, clientHeight } = element
  return { top, distanceToEnd: scrollHeight - clientHeight - top }
}

/** Keeps the end in view while it is followed, whatever grows or shrinks; and hears when the reader goes elsewhere. */
export function useFollow(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  startsAtEnd: boolean,
) {
  const [isFollowing, setFollowing] = useState(startsAtEnd)
  const state = useRef(startsAtEnd)
  const pin = useCallback(() => {
    const element = scroller.current
    if (element !== null && state.current) element.scrollTop = element.scrollHeight
  }, [scroller])
  const send = useCallback(
    (input: FollowInput) => {
      state.current = stepFollow(state.current, input)
      setFollowing(state.current)
      pin()
    },
    [pin],
  )

  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    let last = factsOf(element)
    let intentUntil = 0
    let isHeld = false
    const intend = () => {
      intentUntil = performance.now() + INTENT_MS
    }
    const onWheel = (event: WheelEvent) => {
      intend()
      // Before it moves: otherwise a pin in the same frame takes the motion back.
      if (event.deltaY < 0 && element.scrollTop > 0) send({ type: "hold" })
    }
    const onKey = (event: KeyboardEvent) => {
      if (KEYS.has(event.key)) intend()
      if (UP_KEYS.has(event.key) && element.scrollTop > 0) send({ type: "hold" })
    }
    let touchY = 0
    const onTouchStart = ({ touches }: TouchEvent) => {
      touchY = touches[0]?.clientY ?? 0
    }
    const onTouchMove = ({ touches }: TouchEvent) => {
      const y = touches[0]?.clientY ?? 0
      intend()
      if (y > touchY + 1 && element.scrollTop > 0) send({ type: "hold" })
      touchY = y
    }
    const onDown = (event: PointerEvent) => {
      // On the scrollbar itself; a click on a row is no motion.
      if (event.target === element) isHeld = true
    }
    const onUp = () => {
      if (isHeld) intend()
      isHeld = false
    }
    const onScroll = () => {
      const now = factsOf(element)
      if (isHeld || performance.now() < intentUntil) {
        intend()
        send({ type: "moved", from: last, to: now })
      }
      last = now
    }
    const ending = new AbortController()
    const options = { passive: true, signal: ending.signal }
    element.addEventListener("wheel", onWheel, options)
    element.addEventListener("touchstart", onTouchStart, options)
    element.addEventListener("touchmove", onTouchMove, options)
    element.addEventListener("keydown", onKey, options)
    element.addEventListener("pointerdown", onDown, options)
    addEventListener("pointerup", onUp, options)
    element.addEventListener("scroll", onScroll, options)
    return () => ending.abort()
  }, [scroller, send])

  useLayoutEffect(() => {
    const watched = [scroller.current, content.current].filter((element) => element !== null)
    const topOf = () => scroller.current?.getBoundingClientRect().top ?? 0
    let lastTop = topOf()
    const observer = new ResizeObserver(() => {
      const top = topOf()
      // A bar came or went above: what is read stays where it is on the screen.
      if (!state.current && scroller.current !== null) scroller.current.scrollTop += top - lastTop
      lastTop = top
      pin()
    })
    for (const element of watched) observer.observe(element)
    // The list becomes higher within a round of size reports, which then tell of what is inside of it only: a frame too late.
    const styles = new MutationObserver(pin)
    if (content.current !== null)
      styles.observe(content.current, { subtree: true, attributes: true, attributeFilter: ["style"] })
    return () => {
      observer.disconnect()
      styles.disconnect()
    }
  }, [scroller, content, pin])

  useLayoutEffect(pin)
  return { isFollowing, send }
}

/** Rows that are said and stand behind that event. What is still being said is none yet. */
export function rowsSince(rows: readonly Row[], seq: number): number {
  let count = 0
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index]
    if (row === undefined || row.headSeq <= seq) break
    if (row.at !== "") count++
  }
  return count
}
