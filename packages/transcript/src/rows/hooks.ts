import { textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { type Entry, given } from "./entry.ts"
import type { HookRow, TranscriptEvent } from "./row.ts"

interface HookRun {
  readonly entry: Entry
  first: TranscriptEvent
  started?: TranscriptEvent
  progress?: TranscriptEvent
  ended?: TranscriptEvent
}

const PARTS: Readonly<Record<string, "started" | "progress" | "ended">> = {
  hook_started: "started",
  hook_progress: "progress",
  hook_response: "ended",
}

/** Runs of hooks: their beginning, output and end are one row. */
export class HookTable {
  readonly #board: Board
  readonly #runs = new Map<string, HookRun>()

  constructor(board: Board) {
    this.#board = board
  }

  /** False: not a message about a hook. */
  add(event: TranscriptEvent): boolean {
    const { message } = event
    const part = PARTS[textOf(message, "subtype") ?? ""]
    if (part === undefined) return false
    // The oldest CLIs give no id: then each message is its own.
    const id = textOf(message, "hook_id") ?? textOf(message, "uuid") ?? String(event.seq)
    const run = this.#runs.get(id) ?? this.#begin(id, event)
    if (event.seq < run.first.seq) {
      run.first = event
      this.#board.move(run.entry, { seq: event.seq, pos: 0, lane: null })
    }
    if ((run[part]?.seq ?? 0) < event.seq) run[part] = event
    this.#board.touch(run.entry)
    return true
  }

  #begin(id: string, first: TranscriptEvent): HookRun {
    const entry = this.#board.add({ seq: first.seq, pos: 0, lane: null }, () => drawHook(id, run))
    const run: HookRun = { entry, first }
    this.#runs.set(id, run)
    return run
  }
}

function drawHook(id: string, run: HookRun): HookRow {
  const { first, started, progress, ended } = run
  const told = (ended ?? progress)?.message
  const elapsedMs =
    started === undefined || ended === undefined ? undefined : Date.parse(ended.at) - Date.parse(started.at)
  return {
    kind: "hook",
    key: `h:${id}`,
    headSeq: run.entry.seq,
    lastSeq: Math.max(first.seq, progress?.seq ?? 0, ended?.seq ?? 0),
    lane: null,
    at: first.at,
    state: stateOf(ended),
    name: textOf(first.message, "hook_name") ?? "",
    event: textOf(first.message, "hook_event") ?? "",
    output: textOf(told, "output") || [textOf(told, "stdout"), textOf(told, "stderr")].filter(Boolean).join("\n"),
    ...given({ elapsedMs: Number.isFinite(elapsedMs) ? elapsedMs : undefined }),
  }
}

function stateOf(ended: TranscriptEvent | undefined): HookRow["state"] {
  if (ended === undefined) return "running"
  const { outcome, exit_code } = ended.message
  if (outcome === "cancelled") return "cancelled"
  return outcome === "error" || (typeof exit_code === "number" && exit_code !== 0) ? "failed" : "done"
}
