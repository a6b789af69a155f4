import { useEffect, useRef } from "react"
import { preferences } from "./preferences.ts"

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

/** Longer than a screen takes to come. */
const MAX_MS = 10_000
const MAX_CHARS = 500

let typed = ""
let stop: (() => void) | undefined

/** Keys typed from now on are meant for a field that is not there yet: they are kept for it, and are no shortcut. */
export function keepTypedAhead(): void {
  stop?.()
  typed = ""
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Shift" || event.isComposing) return
    const isText = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
    if (!isText || isEditable(event.target)) return stop?.()
    event.preventDefault()
    event.stopPropagation()
    typed = `${typed}${event.key}`.slice(0, MAX_CHARS)
  }
  const end = () => stop?.()
  const timer = setTimeout(end, MAX_MS)
  addEventListener("keydown", onKey, true)
  addEventListener("pointerdown", end, true)
  stop = () => {
    clearTimeout(timer)
    removeEventListener("keydown", onKey, true)
    removeEventListener("pointerdown", end, true)
    stop = undefined
  }
}

/** For the field, once it has the focus. */
export function takeTypedAhead(): string {
  stop?.()
  const text = typed
  typed = ""
  return text
}

/**
 * Where a phone's keyboard covers the page instead of making it smaller, the shell is made as high as what is left. Only while
 * something is being typed, and not while the reader has zoomed in: then the visible part is smaller for another reason.
 */
export function fitToKeyboard(): void {
  const viewport = globalThis.visualViewport
  if (viewport === null || viewport === undefined) return
  const { style, dataset } = document.documentElement
  const fit = () => {
    const isTyping = isEditable(document.activeElement)
    const isCovered = isTyping && Math.abs(viewport.scale - 1) < 0.01 && viewport.height < innerHeight - 1
    if (isCovered) style.setProperty("--vvh", `${viewport.height}px`)
    else style.removeProperty("--vvh")
    const isLow = isTyping && viewport.height < 560 && matchMedia("(max-width: 639px)").matches
    if (isLow) dataset["typing"] = ""
    else delete dataset["typing"]
  }
  viewport.addEventListener("resize", fit)
  document.addEventListener("focusin", fit)
  document.addEventListener("focusout", fit)
}

/** A key that is held presses once: Enter would press a button again and again, whatever the button has become. */
export function pressesOnce(event: Pick<KeyboardEvent, "key" | "repeat" | "preventDefault">): void {
  if (event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault()
}

export function isEditable(element: EventTarget | null): boolean {
  if (!(element instanceof HTMLElement)) return false
  if (element instanceof HTMLInputElement) return !["checkbox", "radio", "button", "range"].includes(element.type)
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement || element.isContentEditable
}
