import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { baseOf, type Entry, given, numberOf, type Place } from "./entry.ts"
import type { JsonObject, PictureSource, ToolRow, TranscriptEvent } from "./row.ts"
import {
  type AskRecord,
  askFacts,
  drawTool,
  noteTask,
  type Question,
  type Task,
  type ToolUse,
  taskFacts,
} from "./tool.ts"

/** A result that says how many pages follow it, each in a message of its own. */
interface Announced {
  readonly seq: number
  readonly count: number
}

interface Page {
  readonly pictures: readonly PictureSource[]
  /** Rows that show them while nobody is known to have announced them. */
  readonly entries: readonly Entry[]
}

/**
 * Pages of a document that was read: older CLIs (2.1.120) tell them behind the result, newer ones in it. Whose they are is
 * told by their place alone.
 */
class PageTable {
  readonly #announced = new Map<ToolUse, Announced>()
  readonly #pages = new Map<number, Page>()

  /** The last result of a use counts. Tells what shows something else now. */
  announce(use: ToolUse, seq: number, structured: unknown): readonly Entry[] {
    const count = textOf(structured, "type") === "parts" ? numberOf(fieldOf(structured, "file"), "count") : undefined
    if (count === undefined && !this.#announced.has(use)) return []
    const before = new Map([...this.#pages.keys()].map((page) => [page, this.hostOf(page)]))
    if (count === undefined) this.#announced.delete(use)
    else this.#announced.set(use, { seq, count })
    return [...this.#pages].flatMap(([page, { entries }]) => {
      const [was, is] = [before.get(page), this.hostOf(page)]
      return was === is ? [] : [...entries, ...[was, is].flatMap((host) => host?.entry ?? [])]
    })
  }

  add(seq: number, page: Page): readonly Entry[] {
    this.#pages.set(seq, page)
    const host = this.hostOf(seq)
    return host === undefined ? [] : [host.entry]
  }

  /** The page of an event: that of the nearest event that announced one. Undefined: of none that is loaded. */
  hostOf(page: number): ToolUse | undefined {
    let [host, nearest] = [undefined as ToolUse | undefined, 0]
    for (const [use, { seq, count }] of this.#announced)
      if (page > seq && page <= seq + count && seq > nearest) [host, nearest] = [use, seq]
    return host
  }

  pagesOf(use: ToolUse): readonly { readonly seq: number; readonly pictures: readonly PictureSource[] }[] {
    if (!this.#announced.has(use)) return []
    return [...this.#pages]
      .flatMap(([seq, { pictures }]) => (this.hostOf(seq) === use ? [{ seq, pictures }] : []))
      .sort((a, b) => a.seq - b.seq)
  }
}

/** Uses of tools, with the questions and the sub-agents that belong to them. */
export class ToolTable {
  readonly #board: Board
  readonly #isRetracted: (uuid: string) => boolean
  readonly #uses = new Map<string, ToolUse>()
  /** Uses without a result, by lane. */
  readonly #open = new Map<string | null, Set<ToolUse>>()
  readonly #tasks = new Map<string, Task>()
  readonly #questions = new Map<string, Question & { use?: ToolUse; entry?: Entry }>()
  readonly #pages = new PageTable()
  #lastTurnEnd = 0

  constructor(board: Board, isRetracted: (uuid: string) => boolean) {
    this.#board = board
    this.#isRetracted = isRetracted
  }

  call(event: TranscriptEvent, block: JsonObject, place: Place): void {
    const id = textOf(block, "id") ?? `${event.seq}:${place.pos}`
    // A call inside itself would be nowhere.
    if (place.lane === id) return this.call(event, block, { ...place, lane: null })
    const use = this.#use(id, place, event.at)
    if (use.call !== undefined && use.call.seq <= place.seq) return
    const uuid = textOf(event.message, "uuid")
    const displayName = textOf(metaOf(event.message["tool_use_meta"], id), "display_name")
    const [name, input] = [textOf(block, "name") ?? "", fieldOf(block, "input") ?? {}]
    use.call = { seq: place.seq, at: event.at, name, input, ...given({ uuid, displayName }) }
    this.#board.move(use.entry, place)
    this.#settle(use)
    this.#board.touch(use.entry)
  }

  result(event: TranscriptEvent, block: JsonObject, options: { place: Place; structured?: unknown }): void {
    const { place, structured } = options
    const id = textOf(block, "tool_use_id") ?? ""
    const use = this.#use(id, place, event.at)
    if ((use.result?.seq ?? 0) >= event.seq) return
    const [isError, content] = [block["is_error"] === true, block["content"]]
    use.result = { isError, content, at: event.at, seq: event.seq, ...given({ structured }) }
    for (const entry of this.#pages.announce(use, event.seq, structured)) this.#board.touch(entry)
    const kind = textOf(metaOf(event.message["tool_result_meta"], id), "non_execution_kind")
    if (kind !== undefined) use.nonExecution = kind
    this.#settle(use)
    this.#closeLane(use)
    this.#board.touch(use.entry)
  }

  /** Pictures that no person sent: pages of the document that was read, or of their own. */
  pages(event: TranscriptEvent, pictures: readonly PictureSource[], lane: string | null): void {
    if (pictures.length === 0) return
    const { seq } = event
    const base = baseOf(event, lane)
    const entries = pictures.map((picture, index) =>
      this.#board.add({ seq, pos: index + 1, lane }, () =>
        this.#pages.hostOf(seq) === undefined
          ? { kind: "picture", ...base, picture, key: `${base.key}:${index}` }
          : undefined,
      ),
    )
    for (const entry of this.#pages.add(seq, { pictures, entries })) this.#board.touch(entry)
  }

  /** A question is told at its tool; one that belongs to no tool has a row of its own. */
  asked(event: TranscriptEvent, requestId: string): void {
    const question = this.#question(requestId)
    if ((question.asked?.seq ?? Number.POSITIVE_INFINITY) <= event.seq) return
    question.asked = event
    const request = fieldOf(event.message, "request")
    const toolUseId = textOf(request, "tool_use_id")
    if (request?.["subtype"] !== "can_use_tool" || toolUseId === undefined) return this.#askRow(event, question)
    const use = this.#use(toolUseId, { seq: event.seq, pos: 0, lane: null }, event.at)
    question.use = use
    if ((use.question?.asked?.seq ?? 0) <= event.seq) use.question = question
    this.#board.touch(use.entry)
  }

  answered(event: TranscriptEvent): void {
    const requestId = textOf(fieldOf(event.message, "response"), "request_id")
    if (requestId === undefined) return
    const question = this.#question(requestId)
    if ((question.answered?.seq ?? Number.POSITIVE_INFINITY) <= event.seq) return
    question.answered = event
    this.#touchQuestion(question)
  }

  record(record: AskRecord): void {
    const question = this.#question(record.requestId)
    question.record = record
    this.#touchQuestion(question)
  }

  denied(event: TranscriptEvent): void {
    const { message } = event
    const use = this.#use(textOf(message, "tool_use_id") ?? "", { seq: event.seq, pos: 0, lane: null }, event.at)
    if ((use.denial?.seq ?? 0) >= event.seq) return
    const [reason, reasonType] = [textOf(message, "decision_reason"), textOf(message, "decision_reason_type")]
    use.denial = { seq: event.seq, message: textOf(message, "message") ?? "", ...given({ reason, reasonType }) }
    this.#board.touch(use.entry)
  }

  captioned(event: TranscriptEvent): void {
    const ids = event.message["preceding_tool_use_ids"]
    const text = textOf(event.message, "summary") ?? ""
    for (const id of Array.isArray(ids) ? ids : []) {
      if (typeof id !== "string") continue
      const use = this.#use(id, { seq: event.seq, pos: 0, lane: null }, event.at)
      if ((use.caption?.seq ?? 0) < event.seq) use.caption = { seq: event.seq, text }
      this.#board.touch(use.entry)
    }
  }

  /** False: not a message about a task. */
  task(event: TranscriptEvent): boolean {
    const task = noteTask(this.#tasks, event)
    if (task === undefined) return false
    const named = textOf(event.message, "tool_use_id")
    if (named !== undefined) this.#use(named, { seq: event.seq, pos: 0, lane: null }, event.at)
    for (const id of task.toolUseIds) {
      const use = this.#uses.get(id)
      if (use === undefined) continue
      // Two tasks of one call: whichever, as long as it is the same in every order.
      if (use.task === undefined || use.task.id < task.id) use.task = task
      this.#closeLane(use)
      this.#board.touch(use.entry)
    }
    return true
  }

  row(toolUseId: string): ToolRow | undefined {
    const row = this.#uses.get(toolUseId)?.entry.row
    return row?.kind === "tool" ? row : undefined
  }

  progressed(toolUseId: string, elapsedMs: number): void {
    const use = this.#uses.get(toolUseId)
    if (use === undefined || use.result !== undefined) return
    use.progressMs = elapsedMs
    this.#board.touch(use.entry)
  }

  /** Something of that sub-agent is loaded. */
  laneSeen(id: string, seq: number, at: string): void {
    const known = this.#uses.get(id)?.laneSeq
    if (known !== undefined && known <= seq) return
    const use = this.#use(id, { seq, pos: -1, lane: null }, at)
    use.laneSeq = seq
    this.#board.touch(use.entry)
  }

  /** Calls that the agent itself began before that event, and told no result of, have none. */
  turnEnded(seq: number): void {
    if (seq > this.#lastTurnEnd) this.#lastTurnEnd = seq
    for (const use of this.#open.get(null) ?? []) this.#settle(use)
  }

  #question(requestId: string): Question & { use?: ToolUse; entry?: Entry } {
    const question = this.#questions.get(requestId) ?? { requestId }
    this.#questions.set(requestId, question)
    return question
  }

  #touchQuestion({ use, entry }: { use?: ToolUse; entry?: Entry }): void {
    const touched = use?.entry ?? entry
    if (touched !== undefined) this.#board.touch(touched)
  }

  #askRow(event: TranscriptEvent, question: Question & { entry?: Entry }): void {
    const { requestId } = question
    question.entry = this.#board.add({ seq: event.seq, pos: 0, lane: null }, (entry) => ({
      kind: "ask",
      key: `a:${requestId}`,
      headSeq: entry.seq,
      lastSeq: Math.max(entry.seq, question.answered?.seq ?? 0),
      lane: null,
      at: event.at,
      ask: askFacts(question, false),
    }))
  }

  /** Until its call is loaded a use stands where it was first heard of. */
  #use(id: string, place: Place, at: string): ToolUse {
    const known = this.#uses.get(id)
    if (known !== undefined) {
      if (known.call === undefined && place.seq < known.entry.seq) {
        this.#board.move(known.entry, place)
        known.firstAt = at
      }
      return known
    }
    // The entry draws the use that holds it, when somebody looks.
    const entry = this.#board.add(place, () =>
      drawTool(use, { isRetracted: this.#isRetracted, pages: this.#pages.pagesOf(use) }),
    )
    const use: ToolUse = { id, entry, firstAt: at, isOver: false }
    this.#uses.set(id, use)
    return use
  }

  /** Whether it is over is told by its result, by its turn's end, or by the end of the sub-agent it belongs to. */
  #settle(use: ToolUse): void {
    const { lane } = use.entry
    const open = this.#open.get(lane) ?? new Set()
    this.#open.set(lane, open)
    const host = lane === null ? undefined : this.#uses.get(lane)
    const isOver = lane === null ? this.#lastTurnEnd > use.entry.seq : host !== undefined && isLaneOver(host)
    // A turn that ended stays ended; a sub-agent may turn out to live on in the background.
    if (use.result === undefined && !(isOver && lane === null)) open.add(use)
    else open.delete(use)
    if (use.isOver !== isOver) {
      use.isOver = isOver
      this.#board.touch(use.entry)
    }
  }

  #closeLane(host: ToolUse): void {
    for (const use of this.#open.get(host.id) ?? []) this.#settle(use)
  }
}

/** A sub-agent in the background is told to have ended; any other has when its call has a result. */
function isLaneOver(host: ToolUse): boolean {
  if (host.task?.ended !== undefined) return true
  return host.result !== undefined && (host.task === undefined || !taskFacts(host.task).isBackground)
}

function metaOf(meta: unknown, id: string): JsonObject | undefined {
  return Array.isArray(meta) ? meta.filter(isObject).find((item) => item["id"] === id) : undefined
}
