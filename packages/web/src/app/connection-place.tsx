import { useLayoutEffect, useRef } from "react"
import { createValueStore } from "./value-store.ts"

/** Where a screen wants the bar that tells of the connection; undefined where it has no place for it. */
export const connectionPlace = createValueStore<HTMLElement | undefined>(undefined)

/** Under a screen's header: there the bar takes room from what is read, and moves no button. */
export function ConnectionPlace() {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const own = element.current ?? undefined
    connectionPlace.set(own)
    return () => {
      // The next screen's may be there already.
      if (connectionPlace.get() === own) connectionPlace.set(undefined)
    }
  }, [])
  // Where the whole screen scrolls it stays in view.
  return (
    <div ref={element} className="z-10 shrink-0 [@media(max-height:379px)]:sticky [@media(max-height:379px)]:top-0" />
  )
}
