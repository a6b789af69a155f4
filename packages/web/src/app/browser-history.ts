import { isObject } from "@signalbox/protocol/envelope"

/** What is kept with each entry of the browser's history. */
interface Entry {
  /** Another for each visit, also where an entry is used again. */
  readonly id: string
  /** Where it stands among those of this page. */
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
let onMove: () => void = () => undefined
history.replaceState(current, "")

export function address(): string {
  return `${location.pathname}${location.search}`
}

/** Which visit this is: Back and Forward lead to one that was there before. */
export function currentEntry(): string {
  return current.id
}

/** The screen that the address is opened over, if it says so. */
export function behindAddress(): string | undefined {
  return current.behind
}

export function whenMoved(listener: () => void): void {
  onMove = listener
}

/** What is open over the screen is closed by going elsewhere, and its entry is taken for that. */
export function pushAddress(to: string, behind?: string): void {
  const isFree = isSpare() || hasLayer(current.index)
  closeAllLayers()
  const { index, below } = current
  if (isFree) write("replaceState", to, { ...newEntry(index), below, behind })
  else write("pushState", to, { ...newEntry(index + 1), below: address(), behind })
}

export function replaceAddress(to: string, behind?: string): void {
  const isLayers = isSpare() || hasLayer(current.index)
  const standsForBelow = current.standsForBelow || (isLayers && to !== address())
  write("replaceState", to, { ...current, behind, standsForBelow })
}

/**
 * What lies over a screen and has no address: it gets an entry of the history, so that Back closes it. Closed otherwise the entry
 * stays and is used for what comes next; nothing waits for the browser, whose own way back takes its time.
 */
export function openLayer(close: () => void): () => void {
  const { id, index, behind } = current
  // The same visit: what lies over a screen changes nothing of where it is.
  if (!isSpare()) write("pushState", address(), { ...newEntry(index + 1), id, below: address(), behind })
  const layer = { index: current.index, close }
  layers = [...layers, layer]
  return () => {
    layers = layers.filter((one) => one !== layer)
  }
}

export function closeAllLayers(): void {
  closeLayers(() => true)
}

function write(how: "pushState" | "replaceState", to: string, entry: Entry): void {
  current = entry
  history[how](entry, "", to)
  shown = address()
}

function closeLayers(isOver: (layer: Layer) => boolean): void {
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
  // Whoever goes back from an entry that showed nothing of its own, or to one that was replaced, means the one before.
  if (isStepBack && !left.hadLayer && (left.standsForBelow || from === shown)) passOver(from)
  else onMove()
})

function passOver(from: string): void {
  passing = { from, end: setTimeout(arrive, PASSING_MS) }
  history.back()
}

/** There was none before it: the browser says nothing. */
function arrive(): void {
  stopPassing()
  onMove()
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
    id: textOf(state["id"]) ?? newId(),
    index: state["index"],
    below: textOf(state["below"]),
    behind: textOf(state["behind"]),
    standsForBelow: state["standsForBelow"] === true,
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
