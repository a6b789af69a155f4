import type { RunnerLog as LoggedLines, RunnerLogLine } from "@signalbox/protocol/runner-wire"
import type { Clock } from "@signalbox/transport"
import { errorText } from "./errors.ts"

type Level = "info" | "warn" | "error"
type Fields = Readonly<Record<string, unknown>>
type Say = (fields: Fields, words: string) => void

/** The runner's needs of a logger. */
export type RunnerLog = Readonly<Record<Level | "debug", Say>>

const MAX_LINES = 500
const MAX_CHARS = 500

/**
 * The last lines of the runner's log, to be told to the hub. Only our own words, why something failed, and the session it is
 * about: what else a line has with it may be what people and agents said.
 */
export class LogTail {
  readonly #clock: Pick<Clock, "now">
  readonly #lines: RunnerLogLine[] = []
  #isCut = false

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock
  }

  /** The logger, with its lines kept here too. What is only for those who look for a mistake is not. */
  beside(log: RunnerLog): RunnerLog {
    const both = (level: Level): Say => {
      return (fields, words) => {
        log[level](fields, words)
        this.#keep(level, fields, words)
      }
    }
    return {
      debug: (fields, words) => log.debug(fields, words),
      info: both("info"),
      warn: both("warn"),
      error: both("error"),
    }
  }

  /** The newest, in the order they came. */
  last(count = MAX_LINES): LoggedLines {
    const lines = this.#lines.slice(-Math.max(1, count))
    return { lines, more: this.#isCut || lines.length < this.#lines.length }
  }

  #keep(level: Level, { err, session }: Fields, words: string): void {
    const text = err === undefined || words.includes(errorText(err)) ? words : `${words}: ${errorText(err)}`
    // An address may name who goes there.
    const clean = text.replaceAll(/\/\/[^/\s]*@/g, "//").slice(0, MAX_CHARS)
    const at = new Date(this.#clock.now()).toISOString()
    const about = typeof session === "string" ? { session } : {}
    this.#lines.push({ at, level, text: clean, ...about })
    if (this.#lines.length <= MAX_LINES) return
    this.#lines.shift()
    this.#isCut = true
  }
}
