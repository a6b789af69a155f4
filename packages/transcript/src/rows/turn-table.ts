import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import {
  addUses,
  costOfUses,
  type ModelUses,
  modelUsesOf,
  tokensOf,
  totalTokens,
  usedModels,
} from "@signalbox/protocol/usage"
import type { Board } from "./board.ts"
import { baseOf, byPlace, type Entry, given, numberOf, type SeqRanges } from "./entry.ts"
import type { LimitRow, ResultRow, Row, StartedRow, TranscriptEvent } from "./row.ts"

/** One of the windows that a plan's limit is counted in. */
export interface LimitWindow {
  /** `five_hour`, `seven_day`, …; undefined where the agent does not say which. */
  readonly type?: string
  readonly status?: string
  /** A share from 0 to 1. */
  readonly utilization?: number
  /** In seconds since 1970. */
  readonly resetsAt?: number
}

/**
 * The windows that a `rate_limit_event` tells of. A CLI such as 2.1.325 lists each with its use; an older one, and some
 * events of a newer, tell only of the window that decides, and of its use only near the limit.
 */
export function limitWindowsOf(message: unknown): readonly LimitWindow[] {
  const info = fieldOf(message, "rate_limit_info")
  if (info === undefined) return []
  const listed = Object.entries(fieldOf(info, "unifiedWindows") ?? {}).flatMap(([type, window]) =>
    isObject(window) ? [windowOf(type, window)] : [],
  )
  const deciding = windowOf(textOf(info, "rateLimitType"), info)
  const isListed = listed.some(({ type }) => type === deciding.type)
  if (!isListed) return [...listed, deciding]
  return listed.map((window) => (window.type === deciding.type ? { ...deciding, ...window } : window))
}

function windowOf(type: string | undefined, fields: Readonly<Record<string, unknown>>): LimitWindow {
  return given({
    type,
    status: textOf(fields, "status"),
    utilization: numberOf(fields, "utilization"),
    resetsAt: numberOf(fields, "resetsAt"),
  })
}

interface Link {
  readonly event: TranscriptEvent
  readonly entry: Entry
  /** The one before it that is loaded. */
  before?: Link
}

/** Messages that are told by how they differ from the one before: beginnings, limits, results. */
class Chain {
  #links: Link[] = []

  add(event: TranscriptEvent, entryOf: (link: () => Link) => Entry): void {
    const before = this.#links.at(-1)
    const entry = entryOf(() => link)
    const link: Link = { event, entry, ...(before === undefined ? {} : { before }) }
    this.#links.push(link)
  }

  /** A page came from elsewhere in the log: who is before whom may be another. */
  settle(touch: (entry: Entry) => void): void {
    this.#links.sort((a, b) => byPlace(a.entry, b.entry))
    for (const [index, link] of this.#links.entries()) {
      const before = this.#links[index - 1]
      if (before === undefined) delete link.before
      else link.before = before
      touch(link.entry)
    }
  }
}

/** Turns: what they began with, what they may use up, how they ended and who ended them. */
export class TurnTable {
  readonly #board: Board
  readonly #loaded: SeqRanges
  readonly #firstSeq: number
  readonly #inits = new Chain()
  readonly #limits = new Chain()
  readonly #results = new Chain()
  #interrupts: { readonly seq: number; readonly by: string }[] = []
  #processEnds: number[] = []

  constructor(board: Board, loaded: SeqRanges, firstSeq: number) {
    this.#board = board
    this.#loaded = loaded
    this.#firstSeq = firstSeq
  }

  began(event: TranscriptEvent): void {
    this.#chain(this.#inits, event, (link) => drawStarted(link, this.#loaded.isWhole(this.#firstSeq, link.event.seq)))
  }

  limited(event: TranscriptEvent): void {
    this.#chain(this.#limits, event, drawLimit)
  }

  ended(event: TranscriptEvent): void {
    this.#chain(this.#results, event, (link) => this.#drawResult(link))
  }

  interrupted(event: TranscriptEvent): void {
    this.#interrupts.push({ seq: event.seq, by: event.by ?? "" })
  }

  processEnded(seq: number): void {
    this.#processEnds.push(seq)
  }

  settle(): void {
    this.#interrupts.sort((a, b) => a.seq - b.seq)
    this.#processEnds.sort((a, b) => a - b)
    for (const chain of [this.#inits, this.#limits, this.#results]) chain.settle((entry) => this.#board.touch(entry))
  }

  #chain(chain: Chain, event: TranscriptEvent, draw: (link: Link) => Row | undefined): void {
    chain.add(event, (link) => this.#board.add({ seq: event.seq, pos: 0, lane: null }, () => draw(link())))
  }

  #drawResult({ event, before }: Link): ResultRow {
    const { message } = event
    const since = before?.event.seq ?? 0
    const last = this.#interrupts.findLast(({ seq }) => seq < event.seq)
    const interrupt = last !== undefined && last.seq > since ? last : undefined
    return {
      kind: "result",
      ...baseOf(event),
      state: resultState(message, interrupt !== undefined),
      subtype: textOf(message, "subtype") ?? "",
      errors: tellingErrors(message["errors"]),
      tokens: tokensOf(message),
      ...given({
        terminalReason: textOf(message, "terminal_reason"),
        interruptedBy: interrupt?.by,
        text: textOf(message, "result"),
        durationMs: numberOf(message, "duration_ms"),
        turns: numberOf(message, "num_turns"),
        costUsd: this.#costOf(event, before?.event),
        models: this.#modelsOf(event, before?.event),
      }),
    }
  }

  /** On the wire cost is that of the process so far. */
  #costOf(event: TranscriptEvent, before: TranscriptEvent | undefined): number | undefined {
    const told = modelUsesOf(event.message)
    if (told?.since === "result") return costOfUses(told.uses)
    const total = numberOf(event.message, "total_cost_usd")
    if (total === undefined || !this.#loaded.isWhole(before?.seq ?? this.#firstSeq, event.seq)) return undefined
    const earlier = numberOf(this.#sameProcess(event, before)?.message, "total_cost_usd") ?? 0
    return total >= earlier ? total - earlier : total
  }

  #modelsOf(event: TranscriptEvent, before: TranscriptEvent | undefined): ModelUses | undefined {
    const told = modelUsesOf(event.message)
    if (told === undefined) return undefined
    if (told.since === "result") return usedModels(told.uses)
    if (!this.#loaded.isWhole(before?.seq ?? this.#firstSeq, event.seq)) return undefined
    const own = addUses(told.uses, modelUsesOf(this.#sameProcess(event, before)?.message)?.uses, -1)
    const beganAnew = Object.values(own).some((use) => totalTokens(use) < 0)
    return usedModels(beganAnew ? told.uses : own)
  }

  /** The result before, if the same process said it: totals on the wire begin with the process. */
  #sameProcess(event: TranscriptEvent, before: TranscriptEvent | undefined): TranscriptEvent | undefined {
    const lastEnd = this.#processEnds.findLast((seq) => seq < event.seq) ?? 0
    return lastEnd > (before?.seq ?? 0) ? undefined : before
  }
}

const ABORTED: ReadonlySet<unknown> = new Set(["aborted_streaming", "aborted_tools"])

function resultState(message: TranscriptEvent["message"], wasInterrupted: boolean): ResultRow["state"] {
  if (ABORTED.has(message["terminal_reason"])) return "interrupted"
  const isFailure = message["is_error"] === true || message["subtype"] !== "success"
  if (!isFailure) return "done"
  return message["subtype"] === "error_during_execution" && (wasInterrupted || message["is_error"] === false)
    ? "interrupted"
    : "failed"
}

const FACTS = { model: "model", mode: "permissionMode", cwd: "cwd", version: "claude_code_version" } as const

/** The first beginning of a session is told; a later one only by what is no longer as it was. */
function drawStarted({ event, before }: Link, isFirst: boolean): StartedRow | undefined {
  const { message } = event
  const row: StartedRow = {
    kind: "started",
    ...baseOf(event),
    ...given({
      model: textOf(message, FACTS.model),
      mode: textOf(message, FACTS.mode),
      cwd: textOf(message, FACTS.cwd),
      version: textOf(message, FACTS.version),
    }),
  }
  if (before === undefined) return isFirst ? row : undefined
  const changes = Object.entries(FACTS).flatMap(([what, field]) => {
    const [was, is] = [textOf(before.event.message, field), textOf(message, field)]
    // A fact that is not told is not known to be another.
    return is === undefined || was === is ? [] : [{ what, ...given({ before: was, after: is }) }]
  })
  return changes.length === 0 ? undefined : { ...row, changes }
}

/** Shown only when something is different from what was said before. */
function drawLimit({ event, before }: Link): LimitRow | undefined {
  const info = fieldOf(event.message, "rate_limit_info")
  const earlier = fieldOf(before?.event.message, "rate_limit_info")
  const isNews = ["status", "surpassedThreshold", "rateLimitType"].some((name) => info?.[name] !== earlier?.[name])
  const status = textOf(info, "status") ?? "unknown"
  // An allowed limit is no news to begin with.
  if (!isObject(info) || !isNews || (before === undefined && status === "allowed")) return undefined
  const limitType = textOf(info, "rateLimitType")
  const deciding = limitWindowsOf(event.message).find(({ type }) => type === limitType)
  return {
    kind: "limit",
    ...baseOf(event),
    status,
    ...given({ limitType, utilization: deciding?.utilization, resetsAt: deciding?.resetsAt }),
  }
}

/** The errors of a result that say something to a person. The CLI's own diagnostics of an interrupted turn do not. */
export function tellingErrors(errors: unknown): readonly string[] {
  const texts = Array.isArray(errors) ? errors.filter((error) => typeof error === "string") : []
  return texts.filter((text) => !text.startsWith("[ede_diagnostic]"))
}
