import { normaliseAgentMessage } from "@signalbox/protocol/dialects"
import { fieldOf, isEnvelope, isObject, textOf } from "@signalbox/protocol/envelope"
import { Board } from "./board.ts"
import { baseOf, contentPictures, contentText, given, numberOf, type Place, SeqRanges } from "./entry.ts"
import { HookTable } from "./hooks.ts"
import { changeNote, type Note, noteOf, topicOf } from "./notes.ts"
import { PromptTable } from "./prompts.ts"
import type { JsonObject, NoteRow, Row, RowBase, ToolRow, TranscriptEvent } from "./row.ts"
import { BlockTable, isCall, LiveSpeech } from "./speech.ts"
import { type AskRecord, questionId } from "./tool.ts"
import { ToolTable } from "./tool-table.ts"
import { TurnTable } from "./turn-table.ts"

export interface TranscriptOptions {
  /** The first event there is; the log of a session begins at 1 unless some of it is gone. */
  readonly firstSeq?: number
}

/**
 * The fold of a session's events into rows. What it shows depends on the set of events alone: pages may come in any order,
 * overlap, or be missing. What is being said right now comes by `delta` and is gone when the log has it.
 */
export class Transcript {
  readonly #loaded = new SeqRanges()
  readonly #board = new Board((lane, seq) => this.#tools.laneSeen(lane, seq, this.#at))
  readonly #blocks = new BlockTable(this.#board)
  readonly #tools = new ToolTable(this.#board, (uuid) => this.#blocks.isRetracted(uuid))
  readonly #prompts = new PromptTable(this.#board)
  readonly #hooks = new HookTable(this.#board)
  readonly #live = new LiveSpeech(this.#board, (messageId) => this.#blocks.countOf(messageId))
  readonly #turns: TurnTable
  #isSettled = true
  /** The last events that said that the history is being compacted, and that it no longer is. */
  readonly #compacting = { since: 0, until: 0 }
  /** Time of the event that is being folded. */
  #at = ""

  constructor(options: TranscriptOptions = {}) {
    this.#turns = new TurnTable(this.#board, this.#loaded, options.firstSeq ?? 1)
  }

  /** Events in any order; one that is there already changes nothing. */
  fold(events: Iterable<TranscriptEvent>): void {
    for (const event of events) {
      this.#noteCompacting(event)
      if (event.seq < this.#loaded.last) this.#isSettled = false
      if (!this.#loaded.add(event.seq)) continue
      this.#at = event.at
      this.#take(event.from === "agent" ? inTodaysForm(event) : event)
    }
  }

  /** A line that is shown live and never numbered. */
  delta(told: JsonObject): void {
    const message = isEnvelope(told) ? normaliseAgentMessage(told) : told
    switch (message["type"]) {
      case "stream_event":
        return this.#live.take(message, this.#loaded.last)
      case "tool_progress": {
        const seconds = numberOf(message, "elapsed_time_seconds") ?? 0
        return this.#tools.progressed(textOf(message, "tool_use_id") ?? "", seconds * 1000)
      }
      case "command_lifecycle":
        // Newer than every event that is loaded, older than the next.
        return this.#prompts.lifecycle(
          textOf(message, "command_uuid") ?? "",
          textOf(message, "state") ?? "",
          this.#loaded.last + 0.5,
        )
      case "system":
        if (message["subtype"] === "thinking_tokens") this.#live.thinking(numberOf(message, "estimated_tokens") ?? 0)
        return
    }
  }

  /** The stream was cut and begins again: the message in progress stays until it is told from its beginning, or whole. */
  interruptLive(): void {
    this.#live.interrupted()
  }

  /** How the hub says an ask stands. */
  ask(record: AskRecord): void {
    this.#tools.record(record)
  }

  /** The rows of the agent, or of the sub-agent that the tool use started. */
  rows(lane: string | null = null): readonly Row[] {
    if (!this.#isSettled) this.#turns.settle()
    this.#isSettled = true
    return this.#board.rows(lane)
  }

  /** One use of a tool, in whichever lane it is; undefined when nothing of it is loaded. */
  tool(toolUseId: string): ToolRow | undefined {
    return this.#tools.row(toolUseId)
  }

  /** Whether the agent is making its history shorter right now. */
  get isCompacting(): boolean {
    return this.#compacting.since > this.#compacting.until
  }

  /** The sub-agents that something is loaded of. */
  lanes(): readonly string[] {
    return this.#board.laneIds()
  }

  #take(event: TranscriptEvent): void {
    switch (event.message.type) {
      case "assistant":
        return this.#assistant(event)
      case "user":
        return this.#user(event)
      case "result":
        this.#live.end(null, event.seq)
        this.#tools.turnEnded(event.seq)
        return this.#turns.ended(event)
      case "system":
        return this.#system(event)
      case "control_request":
        return this.#request(event)
      case "control_response":
        return this.#answer(event)
      case "tool_use_summary":
        return this.#tools.captioned(event)
      case "rate_limit_event":
        return this.#turns.limited(event)
      case "hub":
        // An agent can write this word too: then it is one that nobody knows.
        return event.from === "hub" ? this.#hub(event) : this.#note(event, "unknown")
      default:
        return this.#note(event, noteOf(event.message))
    }
  }

  #assistant(event: TranscriptEvent): void {
    const { message } = event
    const [lane, body] = [laneOf(message), fieldOf(message, "message")]
    const content = body?.["content"]
    this.#blocks.retract(message["supersedes"])
    if (typeof message["error"] === "string") return this.#failure(event, content)
    for (const [pos, block] of (Array.isArray(content) ? content : []).entries()) {
      if (!isObject(block)) continue
      const id = textOf(body, "id")
      const n = this.#block(event, block, { seq: event.seq, pos, lane }, id)
      if (id !== undefined && n !== undefined) this.#live.said(lane, id, { n, type: textOf(block, "type") ?? "" })
    }
  }

  /** Tells the block's number in its message. */
  #block(event: TranscriptEvent, block: JsonObject, place: Place, id: string | undefined): number | undefined {
    if (isCall(block)) this.#tools.call(event, block, place)
    else if (textOf(block, "tool_use_id") === undefined) return this.#blocks.add(event, block, place)
    else this.#tools.result(event, block, { place })
    return id === undefined ? undefined : this.#blocks.count(id, place)
  }

  #failure(event: TranscriptEvent, content: unknown): void {
    const code = textOf(event.message, "error") ?? "unknown"
    this.#row(event, laneOf(event.message), { kind: "failure", code, text: contentText(content) })
  }

  #user(event: TranscriptEvent): void {
    const { message } = event
    const lane = laneOf(message)
    const content = fieldOf(message, "message")?.["content"]
    const blocks = (Array.isArray(content) ? content : []).filter(isObject)
    const results = blocks.filter(({ type }) => type === "tool_result")
    for (const [pos, block] of results.entries()) {
      // With several results in one message it is not told whose the structured one is.
      const structured = results.length === 1 ? message["tool_use_result"] : undefined
      const place = { seq: event.seq, pos, lane }
      this.#tools.result(event, block, { place, ...given({ structured }) })
    }
    const isSaid = event.from === "client" || message["isReplay"] === true
    if (isSaid && results.length === 0) return this.#prompts.add(event, { seq: event.seq, pos: 0, lane })
    const text = contentText(content)
    if (text !== "") this.#row(event, lane, { kind: "harness", text })
    if (results.length === 0) this.#tools.pages(event, contentPictures(content), lane)
  }

  #system(event: TranscriptEvent): void {
    const { message } = event
    switch (message["subtype"]) {
      case "init":
        this.#prompts.turnBegan(event.seq)
        return this.#turns.began(event)
      case "compact_boundary":
        return this.#compaction(event)
      case "api_retry":
        return this.#retry(event)
      case "permission_denied":
        return this.#tools.denied(event)
      default:
        this.#blocks.retract(message["retracted_message_uuids"])
        if (this.#tools.task(event) || this.#hooks.add(event)) return
        return this.#note(event, noteOf(message))
    }
  }

  #noteCompacting({ seq, message: { type, subtype, status } }: TranscriptEvent): void {
    if (type !== "system" && type !== "result" && type !== "hub") return
    const isBegun = subtype === "status" && status === "compacting"
    const isOver = type !== "system" || subtype === "status" || subtype === "compact_boundary" || subtype === "init"
    if (isBegun) this.#compacting.since = Math.max(this.#compacting.since, seq)
    else if (isOver) this.#compacting.until = Math.max(this.#compacting.until, seq)
  }

  #compaction(event: TranscriptEvent): void {
    const facts = fieldOf(event.message, "compact_metadata")
    const tokens = given({ preTokens: numberOf(facts, "pre_tokens"), postTokens: numberOf(facts, "post_tokens") })
    this.#row(event, null, { kind: "compaction", trigger: textOf(facts, "trigger") ?? "auto", ...tokens })
  }

  #retry(event: TranscriptEvent): void {
    const { message } = event
    const facts = given({
      maxRetries: numberOf(message, "max_retries"),
      delayMs: numberOf(message, "retry_delay_ms"),
      status: numberOf(message, "error_status"),
    })
    const [attempt, error] = [numberOf(message, "attempt") ?? 1, textOf(message, "error") ?? "unknown"]
    this.#row(event, null, { kind: "retry", state: "running", attempt, error, ...facts })
  }

  #request(event: TranscriptEvent): void {
    const requestId = questionId(event)
    if (requestId !== undefined) return this.#tools.asked(event, requestId)
    const request = fieldOf(event.message, "request")
    if (event.from !== "agent" && request?.["subtype"] === "interrupt") return this.#turns.interrupted(event)
    if (event.from !== "agent") this.#note(event, changeNote(request, event.by) ?? "silent")
  }

  #answer(event: TranscriptEvent): void {
    const answer = fieldOf(fieldOf(event.message, "response"), "response")
    // A denial that ends the turn too: somebody chose that.
    if (event.from !== "agent" && answer?.["interrupt"] === true) this.#turns.interrupted(event)
    this.#tools.answered(event)
  }

  #hub(event: TranscriptEvent): void {
    const { message, seq } = event
    switch (message["subtype"]) {
      case "message_unknown":
        this.#prompts.delivered(textOf(message, "message_uuid") ?? "", seq, "unknown")
        break
      case "message_cancelled":
        this.#prompts.delivered(textOf(message, "message_uuid") ?? "", seq, "cancelled")
        break
      case "message_taken":
        this.#prompts.taken(event)
        break
      case "ended":
        this.#turns.processEnded(seq)
        this.#live.endAll(seq)
        break
      // Another process speaks from here on: nothing of the history is still under way, and costs are counted anew.
      case "forked":
        this.#tools.turnEnded(seq)
        this.#turns.processEnded(seq)
        break
      case "disconnected":
        this.#live.interrupted(seq)
        break
    }
    this.#note(event, noteOf(message))
  }

  #note(event: TranscriptEvent, note: Note | "silent" | "unknown"): void {
    const { message } = event
    if (note === "silent") return
    const name = topicOf(message)
    if (note === "unknown") return this.#row(event, laneOf(message), { kind: "unknown", name, message })
    const row: RowFacts<NoteRow> = { kind: "note", topic: name, isDivider: false, ...note, details: message }
    this.#row(event, laneOf(message), row)
  }

  #row(event: TranscriptEvent, lane: string | null, facts: RowFacts<Row>): void {
    const base = baseOf(event, lane)
    this.#board.add({ seq: event.seq, pos: 0, lane }, () => ({ ...facts, ...base }))
  }
}

type RowFacts<R> = R extends Row ? Omit<R, keyof RowBase> : never

function laneOf(message: JsonObject): string | null {
  return textOf(message, "parent_tool_use_id") ?? null
}

/** An event holds what the agent said; an old dialect is read as what it means. */
function inTodaysForm(event: TranscriptEvent): TranscriptEvent {
  const message = normaliseAgentMessage(event.message)
  return message === event.message ? event : { ...event, message }
}
