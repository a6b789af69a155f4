import { type Backoff, backoffMs } from "@signalbox/protocol/timing"
import type { Clock } from "@signalbox/transport"
import { frameText } from "@signalbox/transport/frames"
import { WebSocket } from "ws"
import type { RunnerLog } from "../log-tail.ts"

export interface HubAddress {
  readonly url: string
  readonly token: string
}

/** A link's needs of the runner around it. */
export interface LinkSettings {
  /** Asked at each try: a hub may come back elsewhere. Undefined: there is none at present. */
  readonly address: () => HubAddress | undefined
  /** Notes that an address could not be used, or not any longer: the next try is at another one, if there are several. */
  readonly onFailed: (url: string) => void
  readonly timing: LinkTiming
  readonly clock: Clock
  readonly log: RunnerLog
}

export interface HubLinkOptions extends LinkSettings {
  /** Below the hub's address. */
  readonly path: string
  /** Whether it is worth a try now; if not, `wake` is waited for. */
  readonly mayDial?: () => boolean
  readonly onOpen: () => void
  readonly onText: (text: string) => void
  /** The connection that was open is over. */
  readonly onLost?: () => void
  /** The hub does not know what this link is about (4004): it is not dialled again. */
  readonly onUnknown?: (reason: string) => void
}

type State =
  | { readonly phase: "resting" }
  | { readonly phase: "waiting"; readonly cancel: () => void }
  | { readonly phase: "dialling"; readonly socket: WebSocket }
  | { readonly phase: "open"; readonly socket: WebSocket; readonly stopPinging: () => void }
  | { readonly phase: "over" }

const HANDSHAKE_MS = 10_000
const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024
const GOODBYE_MS = 1_000

/** One connection to the hub that is dialled again for ever. */
export class HubLink {
  readonly #options: HubLinkOptions
  #state: State = { phase: "resting" }
  #failures = 0
  #heardAt = 0
  /** Where the link leads, or led. */
  #url = ""
  #said: LinkEnd | undefined

  constructor(options: HubLinkOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#state.phase === "open"
  }

  /** Bytes that were sent and have not left yet. */
  get waitingBytes(): number {
    return this.#state.phase === "open" ? this.#state.socket.bufferedAmount : 0
  }

  /** Dials, unless it is at it already. */
  wake(): void {
    if (this.#state.phase === "resting") this.#dial()
  }

  /** Whether the text was taken; a link that is down takes none. */
  send(text: string, onWritten?: () => void): boolean {
    if (this.#state.phase !== "open") return false
    this.#state.socket.send(text, () => onWritten?.())
    return true
  }

  /** Gives up the connection that is open. The next try comes as late as after so many failures in a row. */
  redial(failures: number): void {
    if (this.#state.phase !== "open") return
    this.#failures = failures
    this.#state.socket.terminate()
  }

  /** The hub is not read on until `resume`. */
  pause(): void {
    if (this.#state.phase === "open") this.#state.socket.pause()
  }

  resume(): void {
    if (this.#state.phase === "open" && this.#state.socket.isPaused) this.#state.socket.resume()
  }

  /** For good. Resolves when the goodbye was said, or was not heard in time. */
  async close(reason: string): Promise<void> {
    const state = this.#state
    this.#state = { phase: "over" }
    if (state.phase === "waiting") state.cancel()
    if (state.phase === "dialling") state.socket.terminate()
    if (state.phase !== "open") return
    state.stopPinging()
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(GOODBYE_MS, () => state.socket.terminate())
      state.socket.once("close", () => {
        cancel()
        resolve()
      })
      // A reason longer than the frame allows would throw; ours are short.
      state.socket.close(1000, reason.slice(0, 100))
    })
  }

  #dial(): void {
    const address = this.#options.mayDial?.() === false ? undefined : this.#options.address()
    if (address === undefined) {
      if (this.#options.mayDial === undefined) this.#retry("unreachable")
      else this.#state = { phase: "resting" }
      return
    }
    this.#url = address.url
    const socket = this.#socketTo(address)
    if (socket === undefined) return this.#retry("unreachable")
    this.#state = { phase: "dialling", socket }
    this.#listen(socket)
  }

  #socketTo({ url, token }: HubAddress): WebSocket | undefined {
    try {
      return new WebSocket(`${url.replace(/^http/, "ws").replace(/\/+$/, "")}${this.#options.path}`, {
        headers: { authorization: `Bearer ${token}` },
        handshakeTimeout: HANDSHAKE_MS,
        perMessageDeflate: false,
        maxPayload: MAX_PAYLOAD_BYTES,
      })
    } catch (error) {
      this.#options.log.error({ err: error, url }, "Invalid hub address")
      return undefined
    }
  }

  #listen(socket: WebSocket): void {
    let httpStatus: number | undefined
    socket.on("unexpected-response", (_request, response) => {
      httpStatus = response.statusCode
      response.resume()
      socket.terminate()
    })
    // The close that follows tells what is wrong.
    socket.on("error", (error) => this.#options.log.debug({ err: error, path: this.#options.path }, "hub link"))
    socket.on("open", () => this.#opened(socket))
    const heard = () => {
      this.#heardAt = this.#options.clock.now()
    }
    socket.on("pong", heard)
    socket.on("ping", heard)
    socket.on("message", (data, isBinary) => {
      heard()
      this.#said = undefined
      if (!isBinary && this.#isCurrent(socket)) this.#options.onText(frameText(data))
    })
    socket.on("close", (code, reason) => this.#ended(socket, linkEnd(code, httpStatus), reason.toString("utf8")))
  }

  #isCurrent(socket: WebSocket): boolean {
    const state = this.#state
    return (state.phase === "dialling" || state.phase === "open") && state.socket === socket
  }

  #opened(socket: WebSocket): void {
    if (!this.#isCurrent(socket)) return socket.terminate()
    this.#heardAt = this.#options.clock.now()
    this.#state = { phase: "open", socket, stopPinging: this.#keepAlive(socket) }
    this.#failures = 0
    this.#options.onOpen()
  }

  /** A half-open connection looks like a quiet one until something has to come back. */
  #keepAlive(socket: WebSocket): () => void {
    const { clock, timing } = this.#options
    let cancel = () => undefined as void
    const tick = () => {
      if (clock.now() - this.#heardAt > timing.silenceMs) return socket.terminate()
      // While the hub is not read, its pongs are not either.
      if (socket.isPaused) this.#heardAt = clock.now()
      socket.ping()
      cancel = clock.after(timing.pingMs, tick, "idle")
    }
    cancel = clock.after(timing.pingMs, tick, "idle")
    return () => cancel()
  }

  #ended(socket: WebSocket, why: LinkEnd, reason: string): void {
    if (!this.#isCurrent(socket)) return
    const wasOpen = this.#state.phase === "open"
    if (this.#state.phase === "open") this.#state.stopPinging()
    if (why === "unknown" && this.#options.onUnknown !== undefined) {
      this.#state = { phase: "over" }
      if (wasOpen) this.#options.onLost?.()
      this.#options.onUnknown(reason)
      return
    }
    this.#tell(why, reason)
    this.#retry(why)
    if (wasOpen) this.#options.onLost?.()
  }

  /** Once for each kind of trouble in a row, not at each try. */
  #tell(why: LinkEnd, reason: string): void {
    const { log, path } = this.#options
    if (why === this.#said) return
    this.#said = why
    if (why === "refused") {
      const advice = reason === "" ? "give it a valid token of the role runner" : reason
      log.error({ path }, `The hub refused this runner: ${advice}`)
    }
  }

  #retry(why: LinkEnd): void {
    this.#failures++
    const { timing, clock, onFailed } = this.#options
    onFailed(this.#url)
    const delay = retryDelayMs(timing, { why, failures: this.#failures, roll: Math.random() })
    this.#state = { phase: "waiting", cancel: clock.after(delay, () => this.#dial()) }
  }
}

/** When a hub that cannot be reached is tried again. */
export interface LinkTiming extends Backoff {
  /** After the hub said that it does not take us: somebody has to mend that, so it is tried slowly. */
  readonly refusedDelayMs: number
  readonly pingMs: number
  /** A connection on which nothing was heard for as long is given up. */
  readonly silenceMs: number
  /** A hub that greets an agent with an old epoch is refused for as long. Leases are over much sooner. */
  readonly outdatedMs: number
}

export const DEFAULT_LINK_TIMING: LinkTiming = {
  baseDelayMs: 200,
  maxDelayMs: 5_000,
  refusedDelayMs: 30_000,
  pingMs: 10_000,
  silenceMs: 25_000,
  outdatedMs: 60_000,
}

/** Why the last try, or the last connection, came to its end. */
export type LinkEnd = "unreachable" | "come-back" | "refused" | "unknown"

/** Pure: the dice are handed in. */
export function retryDelayMs(timing: LinkTiming, end: { why: LinkEnd; failures: number; roll: number }): number {
  const { why, failures, roll } = end
  if (why === "refused") return timing.refusedDelayMs * (0.5 + roll / 2)
  return backoffMs(timing, failures, roll)
}

const NOT_ALLOWED = 4001
const UNKNOWN = 4004
const RESTARTS = 1012

export function linkEnd(closeCode: number, httpStatus: number | undefined): LinkEnd {
  if (httpStatus === 401 || httpStatus === 403 || closeCode === NOT_ALLOWED) return "refused"
  if (closeCode === UNKNOWN) return "unknown"
  return closeCode === RESTARTS ? "come-back" : "unreachable"
}
