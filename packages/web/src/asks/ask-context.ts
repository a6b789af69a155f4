import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"

/** The talk around a request: what the agent said last before it, and the task that it works on. */
export interface AskContext {
  readonly said: string | undefined
  readonly task: string | undefined
}

export interface Spoken {
  readonly seq: number
  readonly by: "agent" | "person"
  readonly text: string
}

/** The agent's last sentence before a request, and the last message to it. Pure. */
export function contextOf(spoken: readonly Spoken[], before: number): AskContext {
  const last = (by: Spoken["by"]) =>
    spoken.findLast((each) => each.seq <= before && each.by === by && each.text.trim() !== "")
  const [task, said] = [last("person"), last("agent")]
  // Words from before the task were about another one.
  const isOld = said !== undefined && task !== undefined && said.seq < task.seq
  return { said: isOld ? undefined : lastSentence(said?.text ?? ""), task: firstLine(task?.text ?? "") }
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

interface LoggedEvent {
  readonly seq: number
  readonly from: string
  readonly message: Readonly<Record<string, unknown>>
}

/** The words in a page of a session's log. Sub-agents talk to their agent, not to us. Pure. */
export function spokenIn(events: readonly LoggedEvent[]): readonly Spoken[] {
  return events.flatMap(({ seq, from, message }) => {
    const by = from === "agent" && message["type"] === "assistant" ? "agent" : from === "client" ? "person" : undefined
    if (by === undefined || textOf(message, "parent_tool_use_id") !== undefined) return []
    if (by === "person" && message["type"] !== "user") return []
    return [{ seq, by, text: contentText(fieldOf(message, "message")?.["content"]) }]
  })
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  const texts = content.filter(isObject).filter((block) => block["type"] === "text")
  return texts.map((block) => textOf(block, "text") ?? "").join("\n")
}
