import type { ReplyShare } from "../http/reply.ts"
import { type StoredEvent, wireObject } from "../model/event.ts"
import type { LiveSession } from "../session/live-session.ts"
import { catchUp, Outbox } from "../viewers/fan-out.ts"
import type { ClientHub, RawClient } from "./raw-client.ts"

export interface SseStreamOptions {
  readonly hub: Pick<ClientHub, "log" | "metrics">
  readonly session: LiveSession
  readonly client: RawClient
  /** `Last-Event-ID`; 0 is from the beginning, which is what the official clients mean by none. */
  readonly after: number
  /** Whether the client sent this itself: it is not shown its own messages. */
  readonly isOwn: (event: StoredEvent) => boolean
  /** Counts what waits for this stream's reader. */
  readonly share: ReplyShare
  readonly onClosed: () => void
}

const PAGE = 500
const PAGE_BYTES = 64 * 1024
const COMMENT_MS = 20_000
const BUFFER_BYTES = 64 * 1024

/** One event stream: what was missed from the log, then live. One that lags is ended, and resumes at its cursor. */
export class SseStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #options: SseStreamOptions
  readonly #outbox: Outbox
  readonly #comments: ReturnType<typeof setInterval>
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** `catching-up`: what is published meanwhile will be read in the log. */
  #phase: "catching-up" | "live" | "over" = "catching-up"
  #onPull: (() => void) | undefined

  constructor(options: SseStreamOptions) {
    this.#options = options
    this.body = this.#openBody()
    this.#outbox = new Outbox({ sink: this.#sink(), onOverflow: () => this.#lag() })
    this.#comments = setInterval(() => this.#outbox.control(COMMENT), COMMENT_MS)
    this.#comments.unref()
    this.#outbox.control(COMMENT)
  }

  /** After the client knows of it: what it is told meanwhile is not lost. */
  start(): void {
    if (this.#phase === "over") return
    const { session, after } = this.#options
    const { lastSeq } = session.record
    if (after <= lastSeq) return void this.#catchUp(after)
    this.#bulk(truncatedFrame(lastSeq))
    this.#goLive()
  }

  event(line: string, event: StoredEvent): void {
    if (this.#phase === "live") this.#bulk(numberedFrame(line, event), event.seq)
  }

  delta(line: string, isSpeech: boolean): void {
    if (this.#phase === "live") this.#bulk(isSpeech ? passingFrame(line) : unnumberedFrame(line))
  }

  ask(line: string): void {
    this.#bulk(unnumberedFrame(line))
  }

  tell(line: string): void {
    this.#outbox.control(unnumberedFrame(line))
    this.#count()
  }

  /** The client comes back by itself, and is then told what is so. */
  end(): void {
    if (this.#phase === "over") return
    this.#close()
    this.#closeWhenRead()
  }

  /** Bytes that wait count until they are read, also after the end. */
  #closeWhenRead(): void {
    const queuedBytes = this.#queuedBytes()
    this.#options.share.hold(queuedBytes)
    if (queuedBytes > 0) return
    this.#controller?.close()
    this.#options.share.close()
  }

  #lag(): void {
    if (this.#phase !== "over") this.#options.hub.metrics.viewerLagged()
    this.end()
  }

  async #catchUp(after: number): Promise<void> {
    const { session } = this.#options
    try {
      await catchUp({
        after,
        lastSeq: () => session.record.lastSeq,
        isWanted: () => this.#phase === "catching-up",
        read: (cursor) => this.#read(cursor),
        take: (events) => this.#replay(events),
        goLive: () => this.#goLive(),
      })
    } catch {
      // The log cannot be read now: the client comes back and tries again.
      this.end()
    }
  }

  async *#read(after: number): AsyncGenerator<readonly StoredEvent[]> {
    const { session, hub, share } = this.#options
    // Many streams may begin at once: each holds room before it reads, so that they cannot all read first.
    if (!share.hold(this.#waitingBytes() + PAGE_BYTES)) return this.#lag()
    yield await hub.log.read(session.id, { after, limit: PAGE, maxBytes: PAGE_BYTES })
    await this.#outbox.room()
  }

  #replay(events: readonly StoredEvent[]): void {
    const { client, isOwn } = this.#options
    for (const event of events) {
      const message = isOwn(event) ? undefined : wireObject(event.line)
      const line = message === undefined ? undefined : client.lineOf(event, message)
      if (line !== undefined) this.#bulk(numberedFrame(line, event), event.seq)
    }
  }

  #goLive(): void {
    this.#phase = "live"
    for (const line of this.#options.session.inProgress.lines()) this.#bulk(passingFrame(line))
  }

  #bulk(text: string, seq?: number): void {
    this.#outbox.bulk([{ sessionId: "", text, ...(seq === undefined ? {} : { seq }) }])
    this.#count()
  }

  /** One that has no room for what waits is treated as one that lags. */
  #count(): void {
    if (this.#phase !== "over" && !this.#options.share.hold(this.#waitingBytes())) this.#lag()
  }

  #waitingBytes(): number {
    return this.#outbox.waitingChars + this.#queuedBytes()
  }

  #close(): void {
    this.#phase = "over"
    clearInterval(this.#comments)
    this.#outbox.close()
    this.#options.onClosed()
  }

  #openBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          if (this.#phase === "over") return this.#closeWhenRead()
          this.#count()
          this.#onPull?.()
        },
        cancel: () => {
          this.#options.share.close()
          if (this.#phase !== "over") this.#close()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
    )
  }

  #queuedBytes(): number {
    return Math.max(0, BUFFER_BYTES - (this.#controller?.desiredSize ?? 0))
  }

  #sink(): ConstructorParameters<typeof Outbox>[0]["sink"] {
    const waiting = () => this.#queuedBytes()
    return {
      // Full means nothing more is given: the outbox goes on when the reader has taken some.
      get bufferedAmount() {
        return waiting() < BUFFER_BYTES ? 0 : Number.POSITIVE_INFINITY
      },
      send: (frame, done) => {
        this.#onPull = done
        this.#options.hub.metrics.bytesSent(frame.length)
        this.#controller?.enqueue(Buffer.from(frame))
        this.#count()
        if (waiting() < BUFFER_BYTES) setImmediate(done)
      },
    }
  }
}

/**
 * The frames that the official clients read. Everything comes from "worker": what comes from elsewhere they drop. Each text
 * lacks the last newline, which the outbox adds between and after texts.
 */

/** Numbered: the client's cursor. The line is put in as it is. */
function numberedFrame(line: string, { seq, at }: Pick<StoredEvent, "seq" | "at">): string {
  const created = new Date(at).toISOString()
  const facts = `"event_id":"event-${seq}","sequence_num":${seq},"source":"worker","created_at":"${created}"`
  return `event: client_event\nid: ${seq}\ndata: {${facts},"payload":${line}}\n`
}

/** Not part of the history: a reply, a question, a call. Without a number it leaves the cursor where it is. */
function unnumberedFrame(line: string): string {
  return `event: client_event\ndata: {"source":"worker","payload":${line}}\n`
}

/** A piece of a message in progress. */
function passingFrame(line: string): string {
  return `event: ephemeral_event\ndata: {"payload":${line}}\n`
}

/** The client's cursor is beyond what there is: it is another history's. */
function truncatedFrame(lastSeq: number): string {
  return `event: catch_up_truncated\ndata: {"last_sequence_num":${lastSeq}}\n`
}

/** Clients give a connection up after 45 s without a byte. */
const COMMENT = ":"
