import { LONGEST_TIMER_MS } from "@signalbox/protocol/timing"
import type { AskRecord } from "../model/ask.ts"
import type { AskVerdict } from "./answer.ts"

export interface AskTimersOptions {
  readonly now: () => Date
  /** Fails when the store cannot take it now. */
  readonly expire: (id: string, expiresAt: string) => Promise<void>
  readonly setTimer?: (run: () => void, ms: number) => () => void
}

const RETRY_MS = 5_000

/** The ends of asks that have one: a rule said so. */
export class AskTimers {
  readonly #options: AskTimersOptions
  readonly #cancels = new Map<string, () => void>()

  constructor(options: AskTimersOptions) {
    this.#options = options
  }

  /** Instead of the end it had, if it had one. */
  start(id: string, expiresAt: string): void {
    this.stop(id)
    const ms = Math.max(0, Date.parse(expiresAt) - this.#options.now().getTime())
    const isFarAway = ms > LONGEST_TIMER_MS
    const run = () => (isFarAway ? this.start(id, expiresAt) : this.#expire(id, expiresAt))
    this.#set(id, run, Math.min(ms, LONGEST_TIMER_MS))
  }

  stop(id: string): void {
    this.#cancels.get(id)?.()
    this.#cancels.delete(id)
  }

  close(): void {
    for (const cancel of this.#cancels.values()) cancel()
    this.#cancels.clear()
  }

  /** A store that cannot take it now is asked again: the agent waits for an answer. */
  #expire(id: string, expiresAt: string): void {
    this.#options.expire(id, expiresAt).catch(() => {
      if (this.#cancels.has(id)) this.#set(id, () => this.#expire(id, expiresAt), RETRY_MS)
    })
  }

  #set(id: string, run: () => void, ms: number): void {
    this.#cancels.set(id, (this.#options.setTimer ?? setUnheld)(run, ms))
  }
}

/** Nobody stays alive for it. */
function setUnheld(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Where the rule does not say how often. Without an end, what was to expire would not. */
const DEFAULT_EXTENSIONS = 3

export function withVerdict(ask: AskRecord, verdict: AskVerdict): AskRecord {
  const rule = verdict.rule === undefined ? {} : { rule: verdict.rule }
  return { ...ask, ...rule, ...expiryOf(ask, verdict) }
}

function expiryOf(ask: AskRecord, verdict: AskVerdict): Pick<AskRecord, "expiresAt" | "extension"> {
  const { effect, expiresAfterMs: byMs, maxExtensions: left = DEFAULT_EXTENSIONS } = verdict
  if (effect !== "ask" || byMs === undefined) return {}
  return { expiresAt: later(ask.askedAt, byMs), extension: { byMs, left } }
}

/** With as long again to answer it as its rule gave it at first; undefined when it may not have that. */
export function extended(ask: AskRecord): AskRecord | undefined {
  const { expiresAt, extension } = ask
  if (expiresAt === undefined || extension === undefined || extension.left < 1) return undefined
  const { byMs, left } = extension
  return { ...ask, expiresAt: later(expiresAt, byMs), extension: { byMs, left: left - 1 } }
}

function later(moment: string, ms: number): string {
  return new Date(Date.parse(moment) + ms).toISOString()
}
