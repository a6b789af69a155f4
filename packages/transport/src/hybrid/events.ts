import type { IncomingMessage } from "node:http"
import { isObject } from "@signalbox/protocol"
import { errorText } from "../errors.ts"
import type { Clock } from "../pacing.ts"

export type BodyRead =
  | { readonly kind: "body"; readonly bytes: Buffer }
  | { readonly kind: "too-large" }
  /** The client went away in the middle. */
  | { readonly kind: "gone" }

/** A refused body is still read up to this size and time: a client that is cut off misses its answer. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024
const MAX_DISCARD_MS = 10_000

/** Reads a body of bounded size. What comes past the bound is left to `discardRest`. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyRead> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve({ kind: "too-large" })
  return new Promise((resolve) => {
    let chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > maxBytes) finish({ kind: "too-large" })
    }
    const finish = (read: BodyRead) => {
      request.off("data", take)
      chunks = []
      resolve(read)
    }
    request.on("data", take)
    request.on("end", () => finish({ kind: "body", bytes: Buffer.concat(chunks) }))
    request.on("error", () => finish({ kind: "gone" }))
    request.on("close", () => finish({ kind: "gone" }))
  })
}

/** Takes and forgets the rest of a body whose answer is decided, so that the client gets to it; up to a bound. */
export function discardRest(request: IncomingMessage, clock: Clock): void {
  if (request.complete || request.destroyed) return
  let bytes = 0
  const cutOff = () => request.destroy()
  const cancel = clock.after(MAX_DISCARD_MS, cutOff, "idle")
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_DISCARDED_BYTES) cutOff()
  })
  request.on("end", cancel)
  request.on("close", cancel)
}

/** The events of a body, each as a line. */
export function parseEvents(bytes: Buffer): { lines: string[] } | { error: string } {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString("utf8"))
  } catch (error) {
    return { error: `the body is not JSON: ${errorText(error)}` }
  }
  const events: unknown = isObject(body) ? body["events"] : undefined
  if (!Array.isArray(events)) return { error: 'the body must be {"events":[…]}' }
  const lines: string[] = []
  for (const event of events) {
    if (!isObject(event)) return { error: `event ${lines.length + 1} is not an object` }
    // The one place where an agent's message is encoded again: as an element of an array it has no line of its own, and
    // its own bytes might contain newlines. Fields and their order survive; numbers are as JavaScript has them.
    const line = asLine(event)
    if (line === undefined) return { error: `event ${lines.length + 1} is nested too deeply` }
    lines.push(line)
  }
  return { lines }
}

/** Reading takes any depth, writing does not. */
function asLine(event: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return JSON.stringify(event)
  } catch {
    return undefined
  }
}

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
