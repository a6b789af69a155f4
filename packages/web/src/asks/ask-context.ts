import type { Ask, HubEvent } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { type PromptRow, type Row, type TextRow, Transcript } from "@signalbox/transcript"
import type { SessionFeed } from "../transcript/window/session-feed.ts"
import { partWaiting, type TurnFacts } from "../transcript/window/waiting-prompts.ts"

/** The talk around a request: what the agent said last before it, and the task that it works on. */
export interface AskContext {
  readonly said: string | undefined
  readonly task: string | undefined
}

type Asked = Pick<Ask, "request" | "seq">
type Talk = Pick<SessionFeed, "laneRows" | "tool">

/**
 * The agent's last sentence before a request, and the last message that it took up: one that still waits is not what it works on. A
 * sub-agent's request is about the words of its lane.
 */
export function contextOf({ request, seq: before }: Asked, talk: Talk, session: TurnFacts | undefined): AskContext {
  const lane = talk.tool(textOf(request, "tool_use_id") ?? "")?.lane ?? null
  const { rows } = partWaiting(talk.laneRows(lane), session)
  const spoken = rows.filter(isSpoken).filter(({ headSeq, text }) => headSeq <= before && text.trim() !== "")
  const task = spoken.findLast(({ kind }) => kind === "prompt")
  const said = spoken.findLast(({ kind }) => kind === "text")
  // Words from before the task were about another one.
  const isOld = said !== undefined && task !== undefined && said.headSeq < task.headSeq
  return { said: isOld ? undefined : lastSentence(said?.text ?? ""), task: firstLine(task?.text ?? "") }
}

/** The same from a page of the log. */
export function contextIn(ask: Asked, events: readonly HubEvent[], session: TurnFacts | undefined): AskContext {
  const transcript = new Transcript()
  transcript.fold(events)
  const talk: Talk = { laneRows: (lane) => transcript.rows(lane), tool: (id) => transcript.tool(id) }
  return contextOf(ask, talk, session)
}

/** Events of each step back. An event may be megabytes: few are read at first, and no more once so much was read. */
const STEPS = [4, 8, 28]
const MUCH_CHARS = 256_000

type ReadEvents = (query: { before: number; limit: number }) => Promise<{ readonly events: readonly HubEvent[] }>

/** Events shortly before a request, as far back as its words stand. */
export async function eventsBefore(ask: Asked, read: ReadEvents): Promise<readonly HubEvent[]> {
  let events: readonly HubEvent[] = []
  for (const limit of STEPS) {
    const page = await read({ before: events[0]?.seq ?? ask.seq, limit })
    events = [...page.events, ...events]
    const { said, task } = contextIn(ask, events, undefined)
    const isFound = said !== undefined && task !== undefined
    if (isFound || page.events.length < limit || JSON.stringify(events).length > MUCH_CHARS) break
  }
  return events
}

function isSpoken(row: Row): row is PromptRow | TextRow {
  return row.kind === "prompt" || row.kind === "text"
}

const MAX_CHARS = 240

/** Undefined for a text that has none. Code is no sentence. */
export function lastSentence(text: string): string | undefined {
  const prose = text.slice(-4000).replaceAll(/```[^]*?(?:```|$)/g, " ")
  const lines = prose.split("\n").map((line) => line.replace(/^[\s#>*\d.-]+(?=\S)/, "").replaceAll(/\*\*|__|`/g, ""))
  const line = lines.findLast((each) => /\p{L}/u.test(each))?.trim()
  const sentence = line?.split(/(?<=[.!?])\s+(?=\p{Lu})/u).at(-1)
  return sentence === undefined ? undefined : short(sentence)
}

function firstLine(text: string): string | undefined {
  const line = text
    .slice(0, 4000)
    .split("\n")
    .find((each) => each.trim() !== "")
  return line === undefined ? undefined : short(line.trim())
}

function short(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text
}
