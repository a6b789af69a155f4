import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react"
import { classes } from "./classes.ts"

interface WindowedProps {
  /** How many pieces there are. */
  readonly count: number
  /** Height of a piece that was never drawn, in pixels: never zero, or all of them would be in view at once. */
  readonly heightOf: (index: number) => number
  /** Stands for the content: another one has other heights. */
  readonly content: unknown
  readonly children: (index: number) => ReactNode
  /** A piece that is drawn wherever it is. */
  readonly kept?: number
  readonly className?: string
}

/** So few pieces are drawn without looking. */
export const DRAWN_AT_ONCE = 4

type Range = readonly [first: number, last: number]

/**
 * Draws the pieces in view and their neighbours; the others are empty boxes of their height. It works in every box that scrolls,
 * and the end is at the end: whoever has to read that far has scrolled past everything.
 */
export function Windowed({ count, heightOf, content, children, kept, className }: WindowedProps) {
  const box = useRef<HTMLDivElement>(null)
  const [[first, last], setRange] = useState<Range>([0, DRAWN_AT_ONCE - 1])
  // A piece that had the focus last stays: what is being written there must not go away with scrolling.
  const [held, setHeld] = useState(-1)
  const heights = useKnownHeights(box, content)
  const isShort = count <= DRAWN_AT_ONCE
  useEffect(() => {
    const element = box.current
    if (element === null || isShort) return undefined
    const seen = new Set<number>()
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const index = indexOf(target)
        if (isIntersecting) seen.add(index)
        else seen.delete(index)
      }
      // Out of sight as a whole: what is drawn may stay.
      if (seen.size === 0) return
      heights.remember()
      const next: Range = [Math.min(...seen) - 1, Math.max(...seen) + 1]
      setRange((now) => (now[0] === next[0] && now[1] === next[1] ? now : next))
    })
    for (const piece of element.children) observer.observe(piece)
    return () => observer.disconnect()
  }, [count, isShort, heights])
  return (
    <div
      ref={box}
      onFocus={({ target }) => setHeld(indexOf(target.closest("[data-piece]")))}
      className={classes("relative", className)}
    >
      {Array.from({ length: count }, (_, index) => {
        // The first one is always there: Tab leads into it.
        const isKept = index === 0 || index === held || index === kept
        const isDrawn = isShort || isKept || (index >= first && index <= last)
        return isDrawn ? (
          <div key={index} data-piece={index} data-drawn>
            {children(index)}
          </div>
        ) : (
          <div key={index} data-piece={index} style={{ height: heights.known.get(index) ?? heightOf(index) }} />
        )
      })}
    </div>
  )
}

function indexOf(piece: Element | null): number {
  return Number(piece?.getAttribute("data-piece") ?? -1)
}

interface KnownHeights {
  readonly known: Map<number, number>
  /** Takes the heights of the pieces that are drawn now. */
  readonly remember: () => void
}

/** Heights of pieces that were drawn once. Another content or width makes other heights. */
function useKnownHeights(box: RefObject<HTMLElement | null>, content: unknown): KnownHeights {
  return useMemo(() => {
    const known = new Map<number, number>()
    let width = 0
    const remember = () => {
      const element = box.current
      if (element === null) return
      if (element.clientWidth !== width) known.clear()
      width = element.clientWidth
      for (const piece of element.querySelectorAll<HTMLElement>(":scope > [data-drawn]"))
        known.set(indexOf(piece), piece.offsetHeight)
    }
    return { known, remember }
    // Only that it is another content counts.
  }, [box, content])
}
