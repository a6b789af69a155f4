import { type AnchorHTMLAttributes, type MouseEvent, useEffect, useMemo, useRef } from "react"
import {
  address,
  behindAddress,
  closeAllLayers,
  currentEntry,
  openLayer,
  pushAddress,
  replaceAddress,
  whenMoved,
} from "./browser-history.ts"
import { createValueStore, useValue } from "./value-store.ts"

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
  return { path: pathname, query: searchParams, entry: currentEntry() }
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
  const next = isOpen ? (behindAddress() ?? HOME) : address()
  over.set(isOpen ? address() : undefined)
  const isSameVisit = isOpen || place.get().entry === currentEntry()
  if (screen === next && isSameVisit) return
  screen = next
  place.set(placeOf(next))
}
readAddress()
whenMoved(readAddress)

/** Where the screen is; what is opened over it does not change that. */
export function usePlace(): Place {
  return useValue(place)
}

export function currentPlace(): Place {
  return place.get()
}

/** What is opened over the screen. */
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
    // Where one is already, what lies over it is all there is to leave.
    if (href === address()) closeAllLayers()
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
