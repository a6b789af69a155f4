import type { RawData, WebSocket } from "ws"
import type { FakeHub } from "./fake-hub.ts"

export interface ViewerFaults {
  /** The connection is cut after this many lines. */
  readonly cutAfterLines?: number
  /** Or closed in an orderly way, with this code. */
  readonly closeCode?: number
  /** The subscription lags after this many events, once. */
  readonly lagAfterEvents?: number
  /** Lines in a frame; 1 unless said. */
  readonly linesPerFrame?: number
  /** Events with these numbers are left out. */
  readonly leavesOut?: readonly number[]
  /** Subscriptions are refused with this code. */
  readonly refusesWith?: string
  /** Subscriptions are not confirmed. */
  readonly staysSilent?: boolean
  /** Nor is anything else. */
  readonly isDead?: boolean
}

/** The lines of a frame. */
export function messagesIn(frame: RawData): Record<string, unknown>[] {
  const text = Buffer.isBuffer(frame) ? frame.toString() : ""
  return text.split("\n").flatMap((line) => (line === "" ? [] : JSON.parse(line)))
}

/** The hub's side of one `/api/stream`. */
export class FakeViewer {
  readonly #socket: WebSocket
  readonly #hub: FakeHub
  readonly #faults: ViewerFaults
  /** Where each subscription is. */
  readonly #cursors = new Map<string, number>()
  #frame: string[] = []
  #lines = 0
  #events = 0
  #hasLagged = false
  #isOver = false

  constructor(socket: WebSocket, hub: FakeHub, faults: ViewerFaults) {
    this.#socket = socket
    this.#hub = hub
    this.#faults = faults
    socket.on("error", () => undefined)
    socket.on("message", (data) => {
      for (const operation of messagesIn(data)) this.#take(operation)
      this.#flush()
    })
    if (faults.cutAfterLines === 0) this.#end()
  }

  cut(): void {
    this.#isOver = true
    this.#socket.terminate()
  }

  send(line: Record<string, unknown>): void {
    this.#write(line)
    this.#flush()
  }

  pump(session: string): void {
    this.#pump(session)
    this.#flush()
  }

  delta(session: string, message: Record<string, unknown>): void {
    if (this.#cursors.has(session)) this.send({ ev: "delta", session, message })
  }

  #take(operation: Record<string, unknown>): void {
    if (this.#isOver || this.#faults.isDead === true) return
    const session = String(operation["session"])
    if (operation["op"] === "ping") this.#write({ ev: "pong" })
    if (operation["op"] === "unsubscribe") this.#cursors.delete(session)
    if (operation["op"] === "subscribe" && this.#faults.staysSilent !== true) {
      this.#subscribe(session, operation["after"] as number | undefined)
    }
  }

  #subscribe(session: string, after: number | undefined): void {
    const { refusesWith: code } = this.#faults
    if (code !== undefined) return this.#write({ ev: "error", session, error: { code, message: "not now" } })
    const lastSeq = this.#hub.log(session).length
    const firstSeq = this.#hub.firstSeq.get(session) ?? 1
    const from = after ?? lastSeq
    const isGap = from + 1 < firstSeq || from > lastSeq
    this.#write({ ev: "subscribed", session, verdict: isGap ? "gap" : "ok", firstSeq, lastSeq })
    this.#write({ ev: "changed", session, record: { id: session, state: "running", lastSeq } })
    if (session === "*") return
    this.#cursors.set(session, Math.min(Math.max(from, firstSeq - 1), lastSeq))
    this.#pump(session)
  }

  #pump(session: string): void {
    const log = this.#hub.log(session)
    for (let cursor = this.#cursors.get(session); cursor !== undefined; cursor = this.#cursors.get(session)) {
      const event = log[cursor]
      if (event === undefined || this.#isOver) return
      if (this.#lags(session, cursor)) return
      this.#cursors.set(session, cursor + 1)
      this.#events++
      if (this.#faults.leavesOut?.includes(event.seq) !== true) this.#write({ ev: "event", session, ...event })
    }
  }

  #lags(session: string, cursor: number): boolean {
    if (this.#hasLagged || this.#events !== this.#faults.lagAfterEvents) return false
    this.#hasLagged = true
    this.#cursors.delete(session)
    this.#write({ ev: "lagged", session, resumeAfter: cursor })
    return true
  }

  #write(line: Record<string, unknown>): void {
    if (this.#isOver) return
    this.#frame.push(`${JSON.stringify(line)}\n`)
    this.#lines++
    if (this.#frame.length >= (this.#faults.linesPerFrame ?? 1)) this.#flush()
    if (this.#lines === this.#faults.cutAfterLines) this.#end()
  }

  #flush(): void {
    if (this.#frame.length === 0 || this.#isOver) return
    this.#socket.send(this.#frame.join(""))
    this.#frame = []
  }

  #end(): void {
    this.#flush()
    this.#isOver = true
    if (this.#faults.closeCode !== undefined) this.#socket.close(this.#faults.closeCode, "as the test wants it")
    else this.#socket.terminate()
  }
}
