import { useEffect, useRef } from "react"
import { preferences } from "./preferences.ts"
import { isEditable } from "./visible-height.ts"

/** `j`, `g s` (one after the other), `mod+k` (Ctrl or ⌘), `mod+.`. Single letters can be switched off; the others cannot. */
type Keys = string
/** One that returns "not-here" leaves the key to the browser. */
export type KeyMap = Readonly<Record<Keys, (event: KeyboardEvent) => void | "not-here">>

const SEQUENCE_MS = 1500
/** Those that are the whole cockpit's. */
const IN_MENUS: ReadonlySet<string> = new Set(["mod+k", "F6"])

function nameOf(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? "mod+" : ""
  return `${mod}${event.key.length === 1 && mod !== "" ? event.key.toLowerCase() : event.key}`
}

/** Keys of the page. They do nothing while something is being typed, but for those with Ctrl or ⌘ and function keys. */
export function useKeys(map: KeyMap): void {
  const current = useRef(map)
  current.current = map
  useEffect(() => {
    let prefix: { key: string; at: number } | undefined
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return
      const name = nameOf(event)
      const isLetter = event.key.length === 1 && !name.startsWith("mod+")
      if (isInMenu(event.target) && !IN_MENUS.has(name)) return
      if (isLetter && (isEditable(event.target) || !preferences.get().singleKeys)) return
      if (event.key === "Enter" && isEditable(event.target)) return
      const sequence = prefix !== undefined && Date.now() - prefix.at < SEQUENCE_MS ? `${prefix.key} ${name}` : name
      prefix = undefined
      const run = Object.hasOwn(current.current, sequence) ? current.current[sequence] : undefined
      if (run !== undefined) {
        if (run(event) !== "not-here") event.preventDefault()
      } else if (isLetter && Object.keys(current.current).some((keys) => keys.startsWith(`${name} `))) {
        prefix = { key: name, at: Date.now() }
      }
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [])
}

/** Keys in an open menu or dialog belong to it, not to the screen under it. */
function isInMenu(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('[role="menu"],[role="listbox"],[role="dialog"],[role="alertdialog"]') !== null
  )
}
