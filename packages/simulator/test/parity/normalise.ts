import type { Envelope } from "@signalbox/protocol"

// What may differ between a real CLI and the simulator that plays the same scenario. Everything else is compared, down to
// the order of the fields.

type Fields = Record<string, unknown>

/** Ids, and places of this run: they differ between any two runs of one CLI. */
const IDS = [
  // The CLI makes up a name for a plan; the simulator calls it by its session.
  /plans\/[\w-]+\.md/g,
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
  /(?:toolu|msg|req)_[0-9A-Za-z]+/g,
  /\b0[0-9a-z]{8}-[0-9a-f]{8}\b/g,
  /\ba[0-9a-f]{6}(?:[0-9a-f]{10})?\b/g,
  // A background command's.
  /\bb[0-9a-z]{8}\b/g,
  /cc-socks\/\d+/g,
  /127\.0\.0\.1:\d+/g,
]

/** Times, and what follows from how much a CLI tells the model: a simulator has no system prompt. */
const NUMBERS = new Set(
  "duration_ms duration_api_ms ttft_ms ttft_stream_ms time_to_request_ms first_content_frame_ms request_sent_wall_ms first_request_input_tokens total_cost_usd costUSD input_tokens output_tokens inputTokens outputTokens retry_delay_ms pid thinking_duration_ms durationMs end_time totalTokens total_tokens totalDurationMs pre_tokens post_tokens cumulative_dropped_tokens timestamp".split(
    " ",
  ),
)

/** Lists that a version tells of itself: the names are compared, not the vendor's descriptions of them. */
const NAMED = new Set(["commands", "agents", "models"])

/** Long texts for the model that are the vendor's own, and are not copied: their beginning is compared. */
const LONG_TEXTS: readonly RegExp[] = [
  /^(Error: )?Permission to use \w+ has been denied( because Claude Code is running in don't ask mode)?\./,
  /^Entered plan mode\. You should now focus on exploring the codebase and designing an implementation approach\./,
  /^This session is being continued from a previous conversation that ran out of context\./,
  /^Async agent launched successfully\./,
  /^API Error: Claude Code is unable to respond to this request/,
  /^(?:API Error: )?\w+ [\d.]+'s safeguards flagged this (?:message|session)/,
  /^(Error: )?Tool permission request failed: ZodError/,
  // The oldest generation adds a reminder to every file it reads.
  /^ {5}\d→[^<]*?(?=\n\n<system-reminder>|$)/,
  // The newest tells that a call that was stopped may have run in part.
  /^The user doesn't want to proceed with this tool use\./,
  /^InputValidationError/,
  /^Your response above was cut off mid-stream\./,
  /^Your response above was stopped by a safety classifier — this is not a tool or API error\./,
]

export function normalise(message: Envelope): string {
  return JSON.stringify(value({ ...message }, ""))
}

function value(input: unknown, key: string): unknown {
  if (typeof input === "number" && NUMBERS.has(key)) return 0
  if (typeof input === "string") return NUMBERS.has(key) ? "" : text(input)
  if (Array.isArray(input)) return NAMED.has(key) ? input.map(nameOf) : input.map((item) => value(item, ""))
  if (typeof input !== "object" || input === null) return input
  const entries = Object.entries(input as Fields)
  // The oldest generation asks a small model about every command, and counts what that costs.
  const kept =
    key === "modelUsage" ? entries.filter(([name]) => !/haiku-4-5-2025/.test(name) || entries.length === 1) : entries
  // How a context is laid out depends on a system prompt that is not there.
  if (key === "categories" || key === "gridRows") return "…"
  return Object.fromEntries(kept.map(([name, item]) => [name, value(item, name)]))
}

function nameOf(item: unknown): unknown {
  if (typeof item !== "object" || item === null) return item
  const fields = item as Fields
  return fields["name"] ?? fields["value"]
}

function text(input: string): string {
  for (const pattern of LONG_TEXTS) {
    const match = pattern.exec(input)
    if (match !== null) return match[0]
  }
  const plain = IDS.reduce((current, pattern) => current.replaceAll(pattern, "<id>"), input)
  return plain.replaceAll(/(total_tokens|duration_ms): \d+/g, "$1: 0")
}
