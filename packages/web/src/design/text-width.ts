import { type RefObject, useLayoutEffect, useState } from "react"

/** The room that a text has, and what its characters take of it, in pixels. */
interface TextWidth {
  readonly px: number
  readonly characterPx: number
  readonly linePx: number
}

/** Characters of a fixed width are about this broad, and lines of code this high, of their font's size. */
const BROAD = 0.602
const HIGH = 20 / 13

/** Measures an element before it is painted, and whenever its width changes. */
export function useTextWidth(ref: RefObject<HTMLElement | null>): TextWidth {
  const [width, setWidth] = useState<TextWidth>({ px: 0, characterPx: 8, linePx: 20 })
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return undefined
    const measure = () => {
      const px = element.clientWidth
      const font = Number.parseFloat(getComputedStyle(element).fontSize) || 13
      setWidth((now) =>
        now.px === px && now.linePx === font * HIGH ? now : { px, characterPx: font * BROAD, linePx: font * HIGH },
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return width
}
