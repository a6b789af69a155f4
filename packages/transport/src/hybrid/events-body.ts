import type { IncomingMessage } from "node:http"

export type BodyRead =
  | { readonly kind: "body"; readonly bytes: Buffer }
  | { readonly kind: "too-large" }
  /** The client went away in the middle. */
  | { readonly kind: "gone" }

/** Reads a body of bounded size. What comes past the bound is taken and forgotten, so that the client gets to its answer. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyRead> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const tooLarge = () => {
      chunks.length = 0
      resolve({ kind: "too-large" })
    }
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) tooLarge()
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) tooLarge()
      else chunks.push(chunk)
    })
    request.on("end", () => resolve({ kind: "body", bytes: Buffer.concat(chunks) }))
    request.on("error", () => resolve({ kind: "gone" }))
    request.on("close", () => resolve({ kind: "gone" }))
  })
}

/** The events of a body, each as a line. */
export function parseEvents(bytes: Buffer): { lines: string[] } | { error: string } {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString("utf8"))
  } catch (error) {
    return { error: `the body is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
  if (typeof body !== "object" || body === null || !("events" in body) || !Array.isArray(body.events)) {
    return { error: 'the body must be {"events":[…]}' }
  }
  const lines: string[] = []
  for (const event of body.events as unknown[]) {
    if (typeof event !== "object" || event === null || Array.isArray(event)) {
      return { error: `event ${lines.length + 1} is not an object` }
    }
    // The one place where an agent's message is encoded again: as an element of an array it has no line of its own, and
    // its own bytes might contain newlines. Fields and their order survive; numbers are as JavaScript has them.
    lines.push(JSON.stringify(event))
  }
  return { lines }
}
