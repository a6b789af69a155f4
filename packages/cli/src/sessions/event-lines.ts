import type { HubEvent } from "@signalbox/client"
import { costWords, fieldOf, isObject, saysSignIn, textOf } from "@signalbox/protocol"
import { normaliseAgentMessage } from "@signalbox/protocol/dialects"
import { actWords } from "@signalbox/transcript"
import { toolText } from "../asks/ask-text.ts"
import type { Colours } from "../terminal/colours.ts"
import { timeOfDay } from "../terminal/moments.ts"
import { cut, inLines, onOneLine } from "../terminal/plain-text.ts"

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
  return [{ who: colours.green("tool:"), text: cut(onOneLine(tool), MAX_RESULT_CHARS) }]
}

function toolResults(message: unknown, colours: Colours): Saying[] {
  return blocksOf(message).flatMap((block) => {
    if (textOf(block, "type") !== "tool_result" || !isObject(block)) return []
    const { content, is_error } = block
    const text = typeof content === "string" ? content : texts({ message: { content } }).join(" ")
    const paint = is_error === true ? colours.red : colours.dim
    return [{ who: paint("gives:"), text: paint(cut(onOneLine(text), MAX_RESULT_CHARS)) }]
  })
}

function resultOf(message: Readonly<Record<string, unknown>>, colours: Colours): Saying {
  const { subtype, duration_ms, total_cost_usd, is_error } = message
  const cost = typeof total_cost_usd === "number" ? `, ${costWords(total_cost_usd)} in all` : ""
  const time = typeof duration_ms === "number" ? ` after ${(duration_ms / 1000).toFixed(1)} s` : ""
  const isBad = is_error === true || subtype !== "success"
  const what = isBad ? failureText(message) : "done"
  return { who: (isBad ? colours.red : colours.green)("turn:"), text: `${what}${time}${cost}` }
}

/** An API that refuses ends a turn with the subtype "success": the message before it has the cause. */
function failureText({ subtype, result }: Readonly<Record<string, unknown>>): string {
  if (typeof result === "string" && saysSignIn(result))
    return "failed (not signed in: run claude on its machine, then /login)"
  return subtype === "success" ? "failed" : `failed (${onOneLine(String(subtype))})`
}

/** Somebody who does something; what they say has a colon. */
function whoActs(by: string | undefined, colours: Colours): string {
  return colours.cyan(onOneLine(by ?? "hub"))
}

function answerSaying(message: unknown, who: string): Saying[] {
  const answer = fieldOf(fieldOf(message, "response"), "response")
  const verdict = textOf(answer, "behavior") ?? textOf(answer, "action")
  const given = fieldOf(fieldOf(answer, "updatedInput"), "answers")
  if (given !== undefined)
    return [{ who, text: `answers: ${cut(onOneLine(Object.values(given).map(String).join(" / ")), MAX_RESULT_CHARS)}` }]
  const words = verdict === undefined ? "answers" : (VERDICTS[verdict] ?? `answers ${onOneLine(verdict)}`)
  const why = verdict === "deny" ? textOf(answer, "message") : undefined
  return [{ who, text: why === undefined ? words : `${words}: ${cut(onOneLine(why), MAX_RESULT_CHARS)}` }]
}

const VERDICTS: Readonly<Record<string, string>> = {
  allow: "allows it",
  deny: "denies it",
  accept: "answers it",
  decline: "declines it",
  cancel: "dismisses it",
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
  // Why a process failed is mostly the last that it wrote to stderr.
  const stderr = (message["code"] ?? 0) === 0 ? undefined : textOf(message, "stderrTail")?.trim()
  return stderr === undefined || stderr === "" ? told : `${told}\n${inLines(stderr.slice(-MAX_STDERR_CHARS))}`
}
