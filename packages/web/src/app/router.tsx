import { isObject, textOf } from "@signalbox/protocol/envelope"
import { type AnchorHTMLAttributes, type MouseEvent, useEffect, useMemo, useRef } from "react"
import { createValueStore, useValue } from "./value-store.ts"

/** Our facts with each entry of the browser's history. */
interface Entry {
  /** Another for each visit, also where an entry is used again. */
  readonly id: string
  /** Its place among the entries of this page. */
  readonly index: number
  /** The address of the entry below it. One with the same address shows nothing of its own, unless a layer is open. */
  readonly below: string | undefined
  /** Address of the screen below, when this address is opened over a screen. */
  readonly behind: string | undefined
  /** It was a layer's, and its address was replaced: it stands for the one below, which still has what was replaced. */
  readonly standsForBelow: boolean
}

interface Layer {
  readonly index: number
  readonly close: () => void
}

let visits = 0
/** A page that was loaded anew counts from one again, while the history keeps what it has. */
function newId(): string {
  return `${performance.timeOrigin}-${++visits}`
}

let current: Entry = entryOf(history.state) ?? newEntry(0)
let shown = address()
/** Back passes over entries: what it was pressed on, and when it is taken to have come to the first there is. */
let passing: { readonly from: string; readonly end: ReturnType<typeof setTimeout> } | undefined
const PASSING_MS = 300
let layers: readonly Layer[] = []
history.replaceState(current, "")

function address(): string {
  return `${location.pathname}${location.search}`
}

/** Going elsewhere closes what is open over the screen, and takes its entry. */
function pushAddress(to: string, behind?: string): void {
  const isFree = isSpare() || hasLayer(current.index)
  closeLayers()
  const { index, below } = current
  if (isFree) write("replaceState", to, { ...newEntry(index), below, behind })
  else write("pushState", to, { ...newEntry(index + 1), below: address(), behind })
}

function replaceAddress(to: string, behind?: string): void {
  const isLayers = isSpare() || hasLayer(current.index)
  const standsForBelow = current.standsForBelow || (isLayers && to !== address())
  write("replaceState", to, { ...current, behind, standsForBelow })
}

/**
 * A layer lies over a screen and has no address: it gets an entry of the history, so that Back closes it. Closed otherwise the entry
 * stays and is used for what comes next; nothing waits for the browser, whose own way back takes its time.
 */
function openLayer(close: () => void): () => void {
  const { id, index, behind } = current
  // The same visit: what lies over a screen changes nothing of where it is.
  if (!isSpare()) write("pushState", address(), { ...newEntry(index + 1), id, below: address(), behind })
  const layer = { index: current.index, close }
  layers = [...layers, layer]
  return () => {
    layers = layers.filter((one) => one !== layer)
  }
}

function write(how: "pushState" | "replaceState", to: string, entry: Entry): void {
  current = entry
  history[how](entry, "", to)
  shown = address()
}

function closeLayers(isOver: (layer: Layer) => boolean = () => true): void {
  const closing = layers.filter(isOver)
  layers = layers.filter((layer) => !closing.includes(layer))
  for (const { close } of closing.toReversed()) close()
}

function hasLayer(index: number): boolean {
  return layers.some((layer) => layer.index === index)
}

/** It shows what the one below shows: what was open in it was closed. */
function isSpare(): boolean {
  return current.below === address() && !hasLayer(current.index)
}

addEventListener("popstate", () => {
  const left = { ...current, address: shown, hadLayer: hasLayer(current.index) }
  const known = entryOf(history.state)
  current = known ?? { ...newEntry(left.index + 1), below: left.address, behind: left.behind }
  // One that the browser made by itself, for a place within the page.
  if (known === undefined) history.replaceState(current, "")
  shown = address()
  const isForward = current.index > left.index
  closeLayers(({ index }) => isForward || index > current.index)
  const isStepBack = left.index - current.index === 1
  // Only what lay over it was closed: it is where it was.
  if (isStepBack && left.hadLayer && left.standsForBelow) replaceAddress(left.address, left.behind)
  const from = passing?.from ?? left.address
  stopPassing()
  // Back from an entry that showed nothing of its own, or to one that was replaced, means the one before.
  if (isStepBack && !left.hadLayer && (left.standsForBelow || from === shown)) passOver(from)
  else readAddress()
})

function passOver(from: string): void {
  // Without an entry before it the browser says nothing.
  const end = setTimeout(() => {
    stopPassing()
    readAddress()
  }, PASSING_MS)
  passing = { from, end }
  history.back()
}

function stopPassing(): void {
  clearTimeout(passing?.end)
  passing = undefined
}

function newEntry(index: number): Entry {
  return { id: newId(), index, below: undefined, behind: undefined, standsForBelow: false }
}

function entryOf(state: unknown): Entry | undefined {
  if (!isObject(state) || typeof state["index"] !== "number") return undefined
  return {
    id: textOf(state, "id") ?? newId(),
    index: state["index"],
    below: textOf(state, "below"),
    behind: textOf(state, "behind"),
    standsForBelow: state["standsForBelow"] === true,
  }
}

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
  /** Which of the browser's history it is: Back and Forward lead to one that was there before. */
  readonly entry: string
}

export interface ScreenProps {
  /** The parts of the path that the route's pattern names. */
  readonly params: Readonly<Record<string, string>>
}

/** Opened over a screen, which stays behind it. Asked for by itself, it is over the sessions. */
const OVER = "/new"
const HOME = "/sessions"

function placeOf(to: string): Place {
  const { pathname, searchParams } = new URL(to, location.origin)
  return { path: pathname, query: searchParams, entry: current.id }
}

function isOver(to: string): boolean {
  return matchPath(OVER, placeOf(to).path) !== undefined
}

// The inbox was at /approvals before; links that were kept still lead to it.
if (location.pathname.startsWith("/approvals")) replaceAddress(address().replace("/approvals", "/requests"))

/** The screen's address: the page's own, unless something is opened over it. */
let screen = address()
const over = createValueStore<string | undefined>(undefined)
const place = createValueStore(placeOf(screen))

function readAddress(): void {
  const isOpen = isOver(address())
  const next = isOpen ? (current.behind ?? HOME) : address()
  over.set(isOpen ? address() : undefined)
  const isSameVisit = isOpen || place.get().entry === current.id
  if (screen === next && isSameVisit) return
  screen = next
  place.set(placeOf(next))
}
readAddress()

/** The screen's place; what is opened over it does not change that. */
export function usePlace(): Place {
  return useValue(place)
}

export function currentPlace(): Place {
  return place.get()
}

/** The place that is opened over the screen. */
export function useOver(): Place | undefined {
  const to = useValue(over)
  return useMemo(() => (to === undefined ? undefined : placeOf(to)), [to])
}

/** Back to the screen, as it is. */
export function closeOver(): void {
  if (over.get() !== undefined) navigate(screen, { replace: true })
}

export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (to === address()) return
  const write = replace ? replaceAddress : pushAddress
  write(to, isOver(to) ? screen : undefined)
  readAddress()
}

/** Changes parts of the query; null takes one away. Filters replace the address, layers that Back closes are pushed. */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  options: { readonly push?: boolean } = {},
): void {
  const { path, query } = placeOf(screen)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  const to = `${path}${text === "" ? "" : `?${text}`}`
  const opened = over.get()
  // The screen behind goes on: its address is there again once what lies over it is closed.
  if (opened !== undefined) replaceAddress(opened, to)
  else navigate(to, { replace: options.push !== true })
  readAddress()
}

/** The parts of a path that a pattern such as `/s/:id` names; undefined when it is another path. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split("/")
  const given = path.replace(/(.)\/+$/, "$1").split("/")
  if (wanted.length !== given.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? ""
    if (part.startsWith(":")) found[part.slice(1)] = decode(value)
    else if (part !== value) return undefined
  }
  return found
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly href: string
}

/** A link within the cockpit: the page stays, unless the reader asks for another tab. */
export function Link({ href, onClick, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (event.defaultPrevented || !isPlain) return
    event.preventDefault()
    // A link to the same place only closes what lies over it.
    if (href === address()) closeLayers()
    else navigate(href)
  }
  return (
    <a href={href} onClick={follow} {...rest}>
      {children}
    </a>
  )
}

/** While it is open, Back closes it. */
export function useLayer(isOpen: boolean, close: () => void): void {
  const latest = useRef(close)
  latest.current = close
  useEffect(() => (isOpen ? openLayer(() => latest.current()) : undefined), [isOpen])
}
