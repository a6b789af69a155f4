import { isObject } from "@signalbox/protocol"
import type { Seen } from "../differential/run-program.ts"

/**
 * What a client saw of a CLI, without what a simulator does not have: the vendor's own texts (they are not copied), and
 * numbers that follow from a system prompt. Everything else is compared.
 */
export function comparable(seen: Seen): Seen {
  // What the model was told is between a CLI and its model: the client never sees it.
  const { model: _, ...rest } = seen
  return Object.fromEntries(
    Object.entries(rest).map(([channel, values]) => [
      channel,
      values.map((each) => (KINDS.has(channel) ? byName(each) : reduced(each, ""))),
    ]),
  )
}

/** Which of its two sentences for an abort the official SDK says here depends on whether the process or the prompt ends first. */
export function withOneAbort(seen: Seen): Seen {
  const ending = seen["ending"]?.map((each) =>
    isObject(each) && each["message"] === "Claude Code process aborted by user"
      ? { ...each, message: "Operation aborted" }
      : each,
  )
  return ending === undefined ? seen : { ...seen, ending }
}

/** Channels of sorted names: each is compared by itself, whatever its neighbours are. */
const KINDS = new Set(["stored", "types"])

function byName(names: unknown): unknown {
  return Array.isArray(names) ? Object.fromEntries(names.map((name) => [String(name), "<there>"])) : names
}

/** Counts that depend on the length of a system prompt, or on an id's. */
const COUNTED = new Set(["totalTokens", "total_tokens", "pre_tokens", "post_tokens", "cumulative_dropped_tokens"])
/** Written anew in every run, in a form that only the CLI knows. */
const MADE_UP = new Set(["harnessSectionHash"])
/** How a context is laid out depends on a system prompt that is not there. */
const LAYOUT = new Set(["categories", "gridRows"])

/** Long texts for the model that are the vendor's own: their beginning is compared. */
const LONG_TEXTS: readonly RegExp[] = [
  /^(Error: )?Permission to use \w+ has been denied( because Claude Code is running in don't ask mode)?\./,
  /^Entered plan mode\. You should now focus on exploring the codebase and designing an implementation approach\./,
  /^This session is being continued from a previous conversation that ran out of context\./,
  /^Async agent launched successfully\./,
  /^\[Subagent hand-back\] The text below is the final report of a subagent this session delegated to\./,
  /^(Error: )?Tool permission request failed: ZodError/,
  /^Your response above was cut off mid-stream\./,
  /^Your response above was stopped by a safety classifier — this is not a tool or API error\./,
  /^([\w ]+: )?API Error: \w+ [\d.]+'s safeguards flagged this message/,
  /^The user doesn't want to proceed with this tool use\./,
  /^InputValidationError/,
  // The oldest generation adds a reminder to every file it reads; the newest a schema to an MCP tool's complaint.
  /^[\s\S]*?(?=\n\n<system-reminder>)/,
  /^[\s\S]*?(?=\n\nThis tool's input schema was not in your prompt)/,
]

function reduced(value: unknown, key: string): unknown {
  if (typeof value === "number") return COUNTED.has(key) ? "<counted>" : value
  if (typeof value === "string") return MADE_UP.has(key) ? "<made up>" : reducedText(value)
  if (LAYOUT.has(key)) return "<layout>"
  if (Array.isArray(value)) return value.map((each) => reduced(each, ""))
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([name]) => !isDescription(value, name) && !isAside(value, key, name))
  return Object.fromEntries(entries.map(([name, each]) => [name, reduced(each, name)]))
}

/** What commands, agents and models are said to be good for: the names are compared. */
function isDescription(value: object, name: string): boolean {
  const isListed = "description" in value && (("name" in value && !("type" in value)) || "displayName" in value)
  return isListed && ["description", "argumentHint", "displayName"].includes(name)
}

/** The oldest generation asks a small model about every command, and counts what that costs. */
function isAside(value: object, key: string, name: string): boolean {
  return key === "modelUsage" && /haiku-4-5-2025/.test(name) && Object.keys(value).length > 1
}

function reducedText(text: string): string {
  const whole = LONG_TEXTS.map((pattern) => pattern.exec(text)?.[0]).find((match) => match !== undefined)
  return (
    (whole ?? text)
      .replaceAll(/(total_tokens|subagent_tokens|duration_ms): \d+/g, "$1: <counted>")
      .replaceAll(/\b(agentId:|with ID:) [ab][0-9a-z]{6,16}\b/g, "$1 <task>")
      // The CLI makes up a name for a plan; the simulator calls it by its session.
      .replaceAll(/(?<=\/plans\/)<[\w ]+>(?=\.md)/g, "<plan>")
  )
}
