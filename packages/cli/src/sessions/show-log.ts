import { type Ask, type FollowItem, type Hub, HubClientError, type HubEvent, type Session } from "@signalbox/client"
import { costWords, fieldOf, isObject, saysSignIn, textOf } from "@signalbox/protocol"
import { normaliseAgentMessage } from "@signalbox/protocol/dialects"
import { actWords } from "@signalbox/transcript"
import { toolText } from "../asks/ask-text.ts"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { tellAway, withHub } from "../hub/connect.ts"
import { untilStopped } from "../terminal/input.ts"
import { type Colours, coloursFor, print } from "../terminal/output.ts"
import { cutCells, inLines, onOneLine, timeOfDay } from "../terminal/text.ts"
import { LogReasons } from "./log-reasons.ts"

export interface LogOptions extends JsonOption {
  readonly follow?: boolean
  readonly after: number
  readonly tail?: number
}

const PAGE = 500
const ENDS: ReadonlySet<unknown> = new Set(["ended", "rotated"])

export function showLog(id: string, options: LogOptions, context: CommandContext): Promise<void> {
  return withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    const after = options.tail === undefined ? options.after : Math.max(0, session.lastSeq - options.tail)
    const asks = options.json === true ? [] : await hub.asks({ session: session.id, order: "newest" })
    const show = printer(options, context, asks)
    if (options.follow === true) {
      const tell = tellAway(context)
      await untilStopped((signal) => follow(hub, { session, after, show, tell, signal }))
    } else await printPages(hub, { session, after, show })
  })
}

type Item = { readonly event: HubEvent } | { readonly ask: Ask }
type Show = (item: Item) => Promise<void>

function printer({ json }: LogOptions, { stdout, env }: CommandContext, asks: readonly Ask[]): Show {
  const colours = coloursFor(stdout, env)
  const reasons = new LogReasons(asks, colours)
  const linesOf = (item: Item): readonly string[] => {
    if (json === true) return "event" in item ? [JSON.stringify(item.event)] : []
    return "event" in item
      ? [...eventLines(item.event, colours), ...reasons.ofEvent(item.event)]
      : reasons.ofAsk(item.ask)
  }
  return async (item) => {
    const lines = linesOf(item)
    if (lines.length > 0) await print(stdout, `${lines.join("\n")}\n`)
  }
}

interface Reading {
  readonly session: Session
  readonly after: number
  readonly show: Show
}

async function printPages(hub: Hub, { session, after, show }: Reading): Promise<void> {
  let cursor = after
  for (;;) {
    const { events, more } = await hub.session(session.id).events({ after: cursor, limit: PAGE })
    for (const event of events) await show({ event })
    cursor = events.at(-1)?.seq ?? cursor
    if (!more || events.length === 0) return
  }
}

interface Following extends Reading {
  readonly tell: (item: FollowItem) => void
  readonly signal: AbortSignal
}

/** Ends with the session: after its last event nothing follows. A resumed session goes on after its end. */
async function follow(hub: Hub, { session, after, show, tell, signal }: Following): Promise<void> {
  const one = hub.session(session.id)
  let seen = after
  let hasEnded = false
  const isOver = async () => {
    const { state, next, lastSeq } = await one.get()
    return (state === "ended" || next !== undefined) && seen >= lastSeq
  }
  for await (const item of one.follow({ after, signal })) {
    tell(item)
    if (item.type === "subscribed" && seen >= item.lastSeq && (await unlessAway(isOver()))) return
    if (item.type === "ask") await show({ ask: item.ask })
    if (item.type !== "event") continue
    const { type: _type, ...event } = item
    await show({ event })
    seen = event.seq
    hasEnded ||= event.from === "hub" && ENDS.has(event.message["subtype"])
    // Events may follow the end, so the state is checked after each.
    if (hasEnded && (await unlessAway(isOver()))) return
  }
}

/** An offline hub tells its state when it reconnects. */
async function unlessAway(asked: Promise<boolean>): Promise<boolean> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof HubClientError && (error.status === undefined || error.status === 503)) return false
    throw error
  }
}

const MAX_RESULT_CHARS = 300
const MAX_STDERR_CHARS = 1000

/** An event for reading, one or more lines; none for what says nothing to a person. */
export function eventLines(event: HubEvent, colours: Colours): string[] {
  const said = sayings(event, colours)
  if (said.length === 0) return []
  const stamp = colours.dim(timeOfDay(event.at))
  return said.flatMap(({ who, text }) => {
    const [first = "", ...rest] = text.split("\n")
    return [`${stamp} ${who} ${first}`, ...rest.map((line) => `         ${line}`)]
  })
}

interface Saying {
  readonly who: string
  readonly text: string
}

function sayings({ from, by, message: told }: HubEvent, colours: Colours): Saying[] {
  const message = from === "agent" ? normaliseAgentMessage(told) : told
  switch (message.type) {
    case "user":
      return from === "client"
        ? texts(message).map((text) => ({ who: colours.cyan(`${onOneLine(by ?? "you")}:`), text }))
        : toolResults(message, colours)
    case "assistant":
      return blocksOf(message).flatMap((block) => assistantBlock(block, colours))
    case "result":
      return [resultOf(message, colours)]
    case "control_request":
      if (from === "client")
        return [{ who: whoActs(by, colours), text: onOneLine(actWords(fieldOf(message, "request"))) }]
      return [{ who: colours.yellow("asks:"), text: onOneLine(requestText(fieldOf(message, "request"))) }]
    case "control_response":
      return from === "agent" ? [] : answerSaying(message, whoActs(by, colours))
    case "system":
      return systemSaying(message, colours)
    case "hub":
      return [{ who: colours.dim("hub:"), text: colours.dim(hubText(message)) }]
    default:
      return []
  }
}

function blocksOf(message: unknown): unknown[] {
  const content = fieldOf(message, "message")?.["content"]
  if (typeof content === "string") return [{ type: "text", text: content }]
  return Array.isArray(content) ? content : []
}

function texts(message: unknown): string[] {
  return blocksOf(message).flatMap((block) => {
    const text = textOf(block, "text")
    return text === undefined ? [] : [inLines(text)]
  })
}

function assistantBlock(block: unknown, colours: Colours): Saying[] {
  const text = textOf(block, "text")
  const who = colours.bold("claude:")
  if (text !== undefined) return [{ who, text: inLines(text) }]
  if (textOf(block, "type") !== "tool_use" || !isObject(block)) return []
  const tool = toolText(textOf(block, "name") ?? "a tool", block["input"])
  return [{ who: colours.green("tool:"), text: cutCells(onOneLine(tool), MAX_RESULT_CHARS) }]
}

function toolResults(message: unknown, colours: Colours): Saying[] {
  return blocksOf(message).flatMap((block) => {
    if (textOf(block, "type") !== "tool_result" || !isObject(block)) return []
    const { content, is_error } = block
    const text = typeof content === "string" ? content : texts({ message: { content } }).join(" ")
    const paint = is_error === true ? colours.red : colours.dim
    return [{ who: paint("gives:"), text: paint(cutCells(onOneLine(text), MAX_RESULT_CHARS)) }]
  })
}

function resultOf(message: Readonly<Record<string, unknown>>, colours: Colours): Saying {
  const { subtype, duration_ms, total_cost_usd, is_error } = message
  const cost = typeof total_cost_usd === "number" ? `, ${costWords(total_cost_usd)} in total` : ""
  const time = typeof duration_ms === "number" ? ` after ${(duration_ms / 1000).toFixed(1)} s` : ""
  const isBad = is_error === true || subtype !== "success"
  const what = isBad ? failureText(message) : "done"
  return { who: (isBad ? colours.red : colours.green)("turn:"), text: `${what}${time}${cost}` }
}

/** An API error ends a turn with the subtype "success": the message before it has the cause. */
function failureText({ subtype, result }: Readonly<Record<string, unknown>>): string {
  if (typeof result === "string" && saysSignIn(result))
    return "failed (not signed in: run claude on its machine, then /login)"
  return subtype === "success" ? "failed" : `failed (${onOneLine(String(subtype))})`
}

/** The author of an action. (The author of a message has a colon.) */
function whoActs(by: string | undefined, colours: Colours): string {
  return colours.cyan(onOneLine(by ?? "hub"))
}

function answerSaying(message: unknown, who: string): Saying[] {
  const answer = fieldOf(fieldOf(message, "response"), "response")
  const verdict = textOf(answer, "behavior") ?? textOf(answer, "action")
  const given = fieldOf(fieldOf(answer, "updatedInput"), "answers")
  if (given !== undefined)
    return [
      { who, text: `answered: ${cutCells(onOneLine(Object.values(given).map(String).join(" / ")), MAX_RESULT_CHARS)}` },
    ]
  const words = verdict === undefined ? "answered" : (VERDICTS[verdict] ?? `answered ${onOneLine(verdict)}`)
  const why = verdict === "deny" ? textOf(answer, "message") : undefined
  return [{ who, text: why === undefined ? words : `${words}: ${cutCells(onOneLine(why), MAX_RESULT_CHARS)}` }]
}

const VERDICTS: Readonly<Record<string, string>> = {
  allow: "allowed it",
  deny: "denied it",
  accept: "answered it",
  decline: "declined it",
  cancel: "dismissed it",
}

function requestText(request: Readonly<Record<string, unknown>> | undefined): string {
  const tool = textOf(request, "tool_name")
  if (tool !== undefined) return toolText(tool, request?.["input"])
  return textOf(request, "message") ?? textOf(request, "subtype") ?? "something"
}

function systemSaying(message: Readonly<Record<string, unknown>>, colours: Colours): Saying[] {
  const text = message["subtype"] === "informational" ? textOf(message, "content") : undefined
  return text === undefined ? [] : [{ who: colours.dim("note:"), text: inLines(text) }]
}

function hubText(message: Readonly<Record<string, unknown>>): string {
  const reason = textOf(message, "reason") ?? textOf(message, "text")
  const subtype = onOneLine(textOf(message, "subtype") ?? "note").replaceAll("_", " ")
  const told = reason === undefined ? subtype : `${subtype}: ${onOneLine(reason)}`
  // A process that failed mostly says why in its last lines on stderr.
  const stderr = (message["code"] ?? 0) === 0 ? undefined : textOf(message, "stderrTail")?.trim()
  return stderr === undefined || stderr === "" ? told : `${told}\n${inLines(stderr.slice(-MAX_STDERR_CHARS))}`
}
