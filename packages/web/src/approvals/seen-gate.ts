import { type RefObject, useEffect, useState } from "react"

export interface SeenGate {
  /** The whole of it was on the screen, or it was short enough to be. */
  readonly isOpen: boolean
  readonly showAll: () => void
  readonly isShowingAll: boolean
}

/** What is longer than its box must be seen to its end before it can be allowed. Another input begins anew. */
export function useSeenGate(
  box: RefObject<HTMLElement | null>,
  end: RefObject<HTMLElement | null>,
  contentKey: string,
): SeenGate {
  const [seenKey, setSeenKey] = useState<string | undefined>(undefined)
  const [shownKey, setShownKey] = useState<string | undefined>(undefined)
  useEffect(() => {
    const [root, sentinel] = [box.current, end.current]
    if (root === null || sentinel === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeenKey(contentKey)
      },
      { root, threshold: 0 },
    )
    observer.observe(sentinel)
    return () => observer.disconnect()
  }, [box, end, contentKey])
  const isShowingAll = shownKey === contentKey
  return {
    isOpen: seenKey === contentKey || isShowingAll,
    isShowingAll,
    showAll: () => setShownKey(contentKey),
  }
}
