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
    // Within the screen, not only within its box: what the box itself is in may be scrolled too.
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeenKey(contentKey)
    })
    observer.observe(sentinel)
    return () => observer.disconnect()
  }, [sentinel, contentKey])
  const isShowingAll = shownKey === contentKey
  return {
    end: setSentinel,
    isOpen: seenKey === contentKey || isShowingAll,
    isShowingAll,
    showAll: () => setShownKey(contentKey),
  }
}
