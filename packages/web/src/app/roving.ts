import { useCallback, useRef } from "react"
import { isEditable } from "./keyboard.ts"

const CONTROLS = "a[href], button, input, select, textarea, [tabindex]"
/** Frames in which the first or last row of a long list may still be drawn. */
const MAX_FRAMES = 10

export interface Roving {
  /** For the element that holds the rows. */
  readonly ref: (list: HTMLElement | null) => (() => void) | undefined
  readonly step: (by: number) => void
}

/**
 * A list with one Tab stop, the row that had the focus last. Up, Down, Home and End go from row to row; Left and Right go
 * through the controls of a row. Rows are found in the document, so that a list which draws only some of them works alike.
 */
export function useRoving(rows: string): Roving {
  const list = useRef<HTMLElement | null>(null)
  const ref = useCallback(
    (element: HTMLElement | null) => {
      list.current = element
      if (element === null) return undefined
      const own = new RovingList(element, rows)
      return () => {
        own.leave()
        if (list.current === element) list.current = null
      }
    },
    [rows],
  )
  const step = useCallback((by: number) => stepRows(list.current, by, rows), [rows])
  return { ref, step }
}

class RovingList {
  readonly #element: HTMLElement
  readonly #rows: string
  readonly #leaving = new AbortController()
  readonly #watcher: MutationObserver
  #stop: HTMLElement | undefined

  constructor(element: HTMLElement, rows: string) {
    this.#element = element
    this.#rows = rows
    element.dataset["roving"] = rows
    const { signal } = this.#leaving
    element.addEventListener("focusin", ({ target }) => this.#moved(target), { signal })
    element.addEventListener("keydown", (event) => this.#onKey(event), { signal })
    this.#watcher = new MutationObserver(() => this.#settle())
    this.#watcher.observe(element, { childList: true, subtree: true, attributeFilter: ["aria-current"] })
    this.#settle()
  }

  leave(): void {
    this.#leaving.abort()
    this.#watcher.disconnect()
  }

  #onKey(event: KeyboardEvent): void {
    const { target, key } = event
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    if (!(target instanceof HTMLElement) || isEditable(target)) return
    const row = this.#rowOf(target)
    if (row === undefined) return
    const along = { ArrowRight: 1, ArrowLeft: -1 }[key]
    const down = { ArrowDown: 1, ArrowUp: -1 }[key]
    if (along !== undefined) {
      const own = controlsOf(row)
      own[own.indexOf(target) + along]?.focus()
    } else if (down !== undefined) stepRows(this.#element, down, this.#rows)
    else if (key === "Home" || key === "End") this.#toEnd(key === "End")
    else return
    event.preventDefault()
  }

  /** The row may not be drawn yet: the list is scrolled there first. */
  #toEnd(isLast: boolean): void {
    const scroller = scrollerOf(this.#element)
    const go = (frames: number) => {
      scroller?.scrollTo({ top: isLast ? scroller.scrollHeight : 0, behavior: "instant" })
      const all = visibleRows(this.#element, this.#rows)
      focusRow(isLast ? all.at(-1) : all[0])
      if (frames > 0 && !this.#leaving.signal.aborted) requestAnimationFrame(() => go(frames - 1))
    }
    go(scroller === undefined ? 0 : MAX_FRAMES)
  }

  /** A menu or a dialog that is open over a row has its own keys. */
  #rowOf(target: HTMLElement): HTMLElement | undefined {
    const row = target.closest<HTMLElement>(this.#rows)
    return row !== null && this.#element.contains(row) && !floatsOver(row, target) ? row : undefined
  }

  #moved(target: EventTarget | null): void {
    if (!(target instanceof HTMLElement) || this.#rowOf(target) === undefined) return
    this.#stop = target
    this.#settle()
  }

  /** One control of all rows can be tabbed to: the one that had the focus last, else that of the current row, else the first. */
  #settle(): void {
    const all = [...this.#element.querySelectorAll<HTMLElement>(this.#rows)]
    const isInside = this.#element.contains(document.activeElement)
    const current = all.find((row) => row.matches("[aria-current]") || row.querySelector("[aria-current]") !== null)
    if (current !== undefined && !isInside) this.#stop = mainOf(current)
    else if (this.#stop?.isConnected !== true) this.#stop = mainOf(current ?? all.find(isGoneTo) ?? all[0])
    for (const row of all)
      for (const control of controlsOf(row)) {
        const wanted = control === this.#stop ? 0 : -1
        if (control.tabIndex !== wanted || !control.hasAttribute("tabindex")) control.tabIndex = wanted
      }
  }
}

/** Rows before headings. */
function isGoneTo(row: HTMLElement): boolean {
  return row.matches(CONTROLS) || row.querySelector("a[href]") !== null
}

function visibleRows(list: HTMLElement, rows: string): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(rows)].filter((row) => row.checkVisibility())
}

/** Focuses the row that stands `by` rows further, or the first one for somebody who is elsewhere. */
export function stepRows(list: HTMLElement | null, by: number, rows: string): void {
  if (list === null) return
  const all = visibleRows(list, rows)
  const active = document.activeElement ?? document.body
  const at = all.findIndex((row) => row.contains(active))
  // From between rows, as from a heading: the next one in the order of the document.
  const isBetween = at === -1 && active !== list && list.contains(active)
  const after = isBetween ? all.findIndex((row) => isBefore(active, row)) : -1
  const from = isBetween ? (after === -1 ? all.length : after) - (by > 0 ? 1 : 0) : at
  const next = at === -1 && !isBetween ? 0 : Math.min(Math.max(from + by, 0), all.length - 1)
  focusRow(all[next])
}

function isBefore(element: Element, other: Element): boolean {
  return (element.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
}

function floatsOver(row: HTMLElement, control: HTMLElement): boolean {
  const layer = control.closest("[popover], dialog")
  return layer !== null && row.contains(layer)
}

/** The row itself where it can have the focus, then what is in it. */
function controlsOf(row: HTMLElement): HTMLElement[] {
  const inside = [...row.querySelectorAll<HTMLElement>(CONTROLS)].filter((control) => !floatsOver(row, control))
  return row.matches(CONTROLS) ? [row, ...inside] : inside
}

/** A row is gone to by itself, else by its link. */
function mainOf(row: HTMLElement | undefined): HTMLElement | undefined {
  if (row === undefined || row.matches(CONTROLS)) return row
  return row.querySelector<HTMLElement>("a[href]") ?? controlsOf(row)[0]
}

function focusRow(row: HTMLElement | undefined): void {
  const control = mainOf(row)
  control?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: "nearest" })
}

function scrollerOf(element: HTMLElement): HTMLElement | undefined {
  for (let at: HTMLElement | null = element; at !== null; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at
  return undefined
}
