import { HubError } from "../errors.ts"
import { isDeeperThan, locateJsonFault } from "./json-location.ts"

const MAX_DEPTH = 200

/** Bodies that are being read, over all requests: each is bounded, and so is their sum. */
export class BodyReader {
  readonly #maxBytesAtOnce: number
  #heldBytes = 0

  constructor(maxBytesAtOnce = 256 * 1024 * 1024) {
    this.#maxBytesAtOnce = maxBytesAtOnce
  }

  /** The body as JSON; undefined when there is none. */
  async read(request: Request, maxBytes: number): Promise<unknown> {
    const announced = Number(request.headers.get("content-length") ?? 0)
    if (announced > maxBytes) throw tooLarge(maxBytes)
    if (request.body === null) return undefined
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of chunksOf(request.body)) {
        bytes += chunk.byteLength
        this.#heldBytes += chunk.byteLength
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        if (this.#heldBytes > this.#maxBytesAtOnce) throw busy()
        chunks.push(chunk)
      }
    } finally {
      this.#heldBytes -= bytes
    }
    return bytes === 0 ? undefined : parseJson(decodeUtf8(chunks))
  }
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new HubError("request/invalid", "The body ended early: send it again", { cause })
      })
      if (done) return
      yield value
    }
  } finally {
    // Whoever stops in the middle wants no more of it; the server discards the rest.
    reader.cancel().catch(() => {})
  }
}

function decodeUtf8(chunks: readonly Uint8Array[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new HubError("request/invalid", "The body is not UTF-8: encode it as UTF-8", { cause })
  }
}

function parseJson(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) {
    throw new HubError("request/invalid", `The body is nested deeper than ${MAX_DEPTH}: make it flatter`)
  }
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch (cause) {
    const fault = locateJsonFault(text)
    const where =
      fault === undefined ? "" : ` at line ${fault.line}, column ${fault.column}: expected ${fault.expected}`
    throw new HubError("request/invalid", `The body is not JSON${where}`, { cause })
  }
}

function tooLarge(maxBytes: number): HubError {
  return new HubError("request/too-large", `The body is over the limit of ${maxBytes} bytes: send less at once`)
}

function busy(): HubError {
  return new HubError("hub/busy", "Too many large bodies at once: try again in a moment", {
    details: { retryAfterSeconds: 1 },
  })
}
