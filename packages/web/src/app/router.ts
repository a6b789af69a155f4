import { createValueStore, useValue } from "./value-store.ts"

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

export interface ScreenProps {
  /** The parts of the path that the route's pattern names. */
  readonly params: Readonly<Record<string, string>>
}

function readPlace(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) }
}

const place = createValueStore(readPlace())
addEventListener("popstate", () => place.set(readPlace()))

export function usePlace(): Place {
  return useValue(place)
}

export function currentPlace(): Place {
  return place.get()
}

export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (to === `${location.pathname}${location.search}`) return
  if (replace) history.replaceState(null, "", to)
  else history.pushState(null, "", to)
  place.set(readPlace())
}

/** Changes parts of the query; null takes one away. Filters replace the address, layers that Back closes are pushed. */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  options: { readonly push?: boolean } = {},
): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  navigate(`${location.pathname}${text === "" ? "" : `?${text}`}`, { replace: options.push !== true })
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
