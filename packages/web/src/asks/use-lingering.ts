import { useEffect, useRef, useState } from "react"

/** How long an outcome stays where its question was. */
const OUTCOME_MS = 6000

export interface Lingering {
  readonly isOver: boolean
  /** For what it stands in: nothing goes away from under a pointer. */
  readonly pointer: { readonly onPointerEnter: () => void; readonly onPointerLeave: () => void }
}

/**
 * An outcome stays for a while, and as long as the pointer is on it, unless another request waits behind it. `id`: of what was
 * settled, if anything was.
 */
export function useLingering(id: string | undefined, isAwaited = false): Lingering {
  const [over, setOver] = useState<string | undefined>(undefined)
  const isInside = useRef(false)
  const isDue = useRef(false)
  const awaited = useRef(isAwaited)
  useEffect(() => {
    awaited.current = isAwaited
    if (isAwaited && isDue.current && id !== undefined) setOver(id)
  }, [isAwaited, id])
  useEffect(() => {
    isDue.current = false
    if (id === undefined) return undefined
    const timer = setTimeout(() => {
      isDue.current = true
      if (!isInside.current || awaited.current) setOver(id)
    }, OUTCOME_MS)
    return () => clearTimeout(timer)
  }, [id])
  return {
    isOver: id === undefined || over === id,
    pointer: {
      onPointerEnter: () => {
        isInside.current = true
      },
      onPointerLeave: () => {
        isInside.current = false
        if (isDue.current && id !== undefined) setOver(id)
      },
    },
  }
}
