import { WebSocket } from "ws"
import type { DialSettings } from "./dial-options.ts"
import type { DialFailure } from "./dial-state.ts"

/** Asked at each try. What it throws makes the try impossible. */
type Headers = () => Readonly<Record<string, string>>

export interface DialOutcome {
  /** At once on open, before any message: listen now or miss some. */
  onOpen(socket: WebSocket, lastRequestId: string | undefined): void
  onFailure(failure: DialFailure): void
}

/** One try. Exactly one of the two outcomes is called, unless it is cancelled first. Returns what cancels it. */
export function startDial(settings: DialSettings, headers: Headers, outcome: DialOutcome): () => void {
  const socket = openSocket(settings, headers)
  return socket instanceof Error ? failSoon(socket, outcome) : watch(socket, outcome)
}

/** Never before `startDial` has returned: the caller is still on its way into the state that this ends. */
function failSoon(error: Error, outcome: DialOutcome): () => void {
  let isCancelled = false
  queueMicrotask(() => {
    if (!isCancelled) outcome.onFailure({ kind: "impossible", error })
  })
  return () => {
    isCancelled = true
  }
}

function watch(socket: WebSocket, outcome: DialOutcome): () => void {
  let isOver = false
  let lastRequestId: string | undefined
  let failure: DialFailure | undefined
  const onClose = () => {
    if (isOver) return
    isOver = true
    outcome.onFailure(failure ?? { kind: "no-connection", error: new Error("the connection ended before it opened") })
  }
  socket.on("close", onClose)
  socket.on("error", (error) => {
    failure ??= { kind: "no-connection", error }
  })
  socket.on("upgrade", (response) => {
    const header = response.headers["x-last-request-id"]
    lastRequestId = Array.isArray(header) ? header[0] : header
  })
  socket.on("unexpected-response", (_request, response) => {
    failure = { kind: "http", status: response.statusCode ?? 0 }
    // Ends the request; `error` and `close` follow.
    socket.terminate()
  })
  socket.on("open", () => {
    if (isOver) return
    isOver = true
    socket.off("close", onClose)
    outcome.onOpen(socket, lastRequestId)
  })
  return () => {
    isOver = true
    socket.terminate()
  }
}

function openSocket(settings: DialSettings, headers: Headers): WebSocket | Error {
  const options = {
    handshakeTimeout: settings.preset.connectTimeoutMs,
    maxPayload: settings.maxPayloadBytes,
    perMessageDeflate: false,
    // A line may be cut between frames anywhere, in the middle of a character too.
    skipUTF8Validation: true,
    closeTimeout: settings.closeTimeoutMs,
  }
  try {
    return new WebSocket(settings.url, { ...options, headers: { ...headers() } })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
