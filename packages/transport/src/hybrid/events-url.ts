/** Where the events of an agent go whose WebSocket is at this path. */
export function eventsPath(path: string): string {
  // The first one only, as the CLI does it.
  const replaced = path.replace("/ws/", "/session/")
  if (replaced.endsWith("/events")) return replaced
  return replaced.endsWith("/") ? `${replaced}events` : `${replaced}/events`
}

/** The same host and query; `ws:` becomes `http:`, `wss:` becomes `https:`. */
export function eventsUrl(url: URL): URL {
  const scheme = url.protocol === "wss:" ? "https:" : "http:"
  return new URL(`${scheme}//${url.host}${eventsPath(url.pathname)}${url.search}`)
}
