import { useEffect, useState } from "react"

export interface SeenGate {
  /** For what stands at the end. */
  readonly end: (element: HTMLElement | null) => void
  /** The whole of it was on the screen, or it was short enough to be. */
  readonly isOpen: boolean
  readonly showAll: () => void
  readonly isShowingAll: boolean
}

/** What is longer than its box must be seen to its end before it can be allowed. Another content begins anew. */
export function useSeenGate(contentKey: string): SeenGate {
  const [sentinel, setSentinel] = useState<HTMLElement | null>(null)
  const [seenKey, setSeenKey] = useState<string | undefined>(undefined)
  const [shownKey, setShownKey] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (sentinel === null) return undefined
    let isOnScreen = false
    const look = () => {
      if (isOnScreen && !isCovered(sentinel)) setSeenKey(contentKey)
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
      observer.disconnect()
      removeEventListener("scroll", look, { capture: true })
      removeEventListener("resize", look)
    }
  }, [sentinel, contentKey])
  const isShowingAll = shownKey === contentKey
  return {
    end: setSentinel,
    isOpen: seenKey === contentKey || isShowingAll,
    isShowingAll,
    showAll: () => setShownKey(contentKey),
  }
}

/** On a small screen the buttons lie over what is asked until it is scrolled. */
function isCovered(sentinel: HTMLElement): boolean {
  const bar = sentinel.closest("[data-ask]")?.querySelector("[data-actions]")
  return bar !== null && bar !== undefined && sentinel.getBoundingClientRect().top > bar.getBoundingClientRect().top
}
