import { type RefObject, useEffect, useMemo, useRef, useState } from "react"
import { Button } from "../design/button.tsx"
import { abbreviateHome, useMachineHome } from "../fleet/machine-store.tsx"
import { heldSections, type Section } from "./session-sections.ts"

interface Held {
  readonly sections: readonly Section[]
  /** How many rows would stand elsewhere. */
  readonly moved: number
  readonly release: () => void
}

/** While pointer or focus is in the list, no row moves under it. What waits is offered by a button. */
export function useHeldSections(fresh: readonly Section[], list: RefObject<HTMLElement | null>, key: string): Held {
  const [isInside, setInside] = useState(false)
  const shown = useRef<{ key: string; sections: readonly Section[] }>({ key, sections: fresh })
  const [, redraw] = useState(0)

  useEffect(() => {
    const element = list.current
    if (element === null) return undefined
    const ending = new AbortController()
    const inside = { pointer: false, focus: false }
    const on = <K extends "pointerenter" | "pointerleave" | "focusin" | "focusout">(
      name: K,
      read: (event: HTMLElementEventMap[K]) => Partial<typeof inside>,
    ) => {
      const update = (event: HTMLElementEventMap[K]) => {
        Object.assign(inside, read(event))
        setInside(inside.pointer || inside.focus)
      }
      element.addEventListener(name, update, { signal: ending.signal })
    }
    on("pointerenter", ({ pointerType }) => ({ pointer: pointerType !== "touch" }))
    on("pointerleave", () => ({ pointer: false }))
    on("focusin", () => ({ focus: true }))
    on("focusout", ({ relatedTarget: to }) => ({ focus: to instanceof Node && element.contains(to) }))
    return () => ending.abort()
  }, [list])

  const held = useMemo(() => {
    const before = shown.current
    // Another filter is another list: the reader asked for it.
    if (!isInside || before.key !== key || before.sections.length === 0) return { sections: fresh, moved: 0 }
    return heldSections(before.sections, fresh)
  }, [fresh, isInside, key])
  shown.current = { key, sections: held.sections }
  const release = () => {
    shown.current = { key: "", sections: [] }
    redraw((count) => count + 1)
  }
  return { ...held, release }
}

/** Offered while rows are held where they stand. It takes no room: nothing moves when it comes. */
export function UpdateOrder({ moved, onUpdate }: { readonly moved: number; readonly onUpdate: () => void }) {
  if (moved === 0) return null
  return (
    <div className="pointer-events-none sticky top-1 z-10 flex h-0 justify-center">
      <Button onClick={onUpdate} className="pointer-events-auto h-8 shadow-popover">
        Update order, {moved} moved
      </Button>
    </div>
  )
}

/** A folder is written from home, as in the rows. */
export function useSectionTitle({ title, isFolder, entries }: Section): string {
  const home = useMachineHome(isFolder ? (entries[0]?.session.runner ?? null) : null)
  return isFolder ? abbreviateHome(title, home) : title
}
