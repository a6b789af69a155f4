import { isObject } from "@signalbox/protocol/envelope"

/** What is kept with each entry of the browser's history. */
interface Entry {
  /** Another for each visit, also where an entry is used again. */
  readonly id: string
  /** Where it stands among those of this page. */
  readonly index: number
  /** The address of the entry below it. One with the same address shows nothing of its own, unless a layer is open. */
  readonly below: string | undefined
  /** Of an address that is opened over a screen: the screen's. */
  readonly behind: string | undefined
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

let current: Entry = entryOf(history.state) ?? { id: newId(), index: 0, below: undefined, behind: undefined }
let shown = address()
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
  closeLayers(() => true)
  const { index, below } = current
  if (isFree) write("replaceState", to, { id: newId(), index, below, behind })
  else write("pushState", to, { id: newId(), index: index + 1, below: address(), behind })
}

export function replaceAddress(to: string, behind?: string): void {
  const { id, index, below } = current
  write("replaceState", to, { id, index, below, behind })
}

/**
 * What lies over a screen and has no address: it gets an entry of the history, so that Back closes it. Closed otherwise the entry
 * stays and is used for what comes next; nothing waits for the browser, whose own way back takes its time.
 */
export function openLayer(close: () => void): () => void {
  const { id, index, behind } = current
  // The same visit: what lies over a screen changes nothing of where it is.
  if (!isSpare()) write("pushState", address(), { id, index: index + 1, below: address(), behind })
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
  current = known ?? { id: newId(), index: left.index + 1, below: left.address, behind: left.behind }
  // One that the browser made by itself, for a place within the page.
  if (known === undefined) history.replaceState(current, "")
  shown = address()
  const isForward = current.index > left.index
  closeLayers(({ index }) => isForward || index > current.index)
  // From an entry that showed nothing of its own: whoever goes back means the one before.
  if (left.index - current.index === 1 && !left.hadLayer && left.address === shown) history.back()
  else onMove()
})

function entryOf(state: unknown): Entry | undefined {
  if (!isObject(state) || typeof state["index"] !== "number") return undefined
  return {
    id: textOf(state["id"]) ?? newId(),
    index: state["index"],
    below: textOf(state["below"]),
    behind: textOf(state["behind"]),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
