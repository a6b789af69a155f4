import { isObject, textOf } from "@signalbox/protocol"

const MAX_CHARS = 500
const MAX_REPEATS = 3
const MAX_SUBJECT_CHARS = 200

/**
 * Whether a matcher means this subject, as 2.1.325 was seen to read it: nothing or `*` is everything, plain names separated by
 * `|` or `,` are compared whole, anything else is a pattern that may match anywhere. (Older ones know no `,` and no blanks.)
 */
export function isMeant(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subject === undefined) return true
  if (/^[\w\s|,]+$/.test(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === subject)
  try {
    return new RegExp(matcher).test(subject.slice(0, MAX_SUBJECT_CHARS))
  } catch {
    return false
  }
}

/**
 * Why a pattern is not taken; undefined when it is. Patterns run in the hub's own thread, so those that can take for ever
 * (a repeated group, many repeats, a look back) are refused when they are registered.
 */
export function matcherFault(matcher: string): string | undefined {
  if (matcher.length > MAX_CHARS) return `is longer than ${MAX_CHARS} characters`
  if (/\)\s*[*+?{]/.test(matcher) || /\\[1-9k]/.test(matcher)) return "repeats a group or refers back to one"
  const repeats = matcher.match(/[*+{]/g)?.length ?? 0
  return matcher !== "*" && repeats > MAX_REPEATS ? `has more than ${MAX_REPEATS} repeats` : undefined
}

/** What the matcher of an event is held against. */
const SUBJECTS: Readonly<Record<string, string>> = {
  SessionStart: "source",
  SessionEnd: "reason",
  PreCompact: "trigger",
  PostCompact: "trigger",
  Setup: "trigger",
  Notification: "notification_type",
  SubagentStart: "agent_type",
  SubagentStop: "agent_type",
  ConfigChange: "source",
  Elicitation: "mcp_server_name",
  ElicitationResult: "mcp_server_name",
}

export function subjectOf(event: string, input: unknown): string | undefined {
  return isObject(input) ? textOf(input, SUBJECTS[event] ?? "tool_name") : undefined
}
