import { fieldOf, isObject, textOf } from "@signalbox/protocol"

type Fields = Readonly<Record<string, unknown>>

const WEIGHT: Readonly<Record<string, number>> = { deny: 3, block: 3, ask: 2, allow: 1, approve: 1 }

/** The outputs of several clients' hooks as one: deny over ask over allow, and of the rest the first that says something. */
export function mergeHookOutputs(outputs: readonly unknown[]): Fields {
  // "Do not wait for me": it says nothing.
  const said = outputs.filter(isObject).filter((output) => output["async"] !== true)
  const [first, ...others] = said
  if (first === undefined) return {}
  return others.reduce<Fields>(mergeTwo, first)
}

function mergeTwo(one: Fields, other: Fields): Fields {
  const specific = mergeSpecific(fieldOf(one, "hookSpecificOutput"), fieldOf(other, "hookSpecificOutput"))
  return {
    ...firstSaid(one, other),
    ...weighed(one, other, { name: "decision", reason: "reason" }),
    ...(one["continue"] === false || other["continue"] === false ? { continue: false } : {}),
    ...(specific === undefined ? {} : { hookSpecificOutput: specific }),
  }
}

function mergeSpecific(one: Fields | undefined, other: Fields | undefined): Fields | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const contexts = [one, other].flatMap((output) => textOf(output, "additionalContext") ?? [])
  return {
    ...firstSaid(one, other),
    ...weighed(one, other, { name: "permissionDecision", reason: "permissionDecisionReason" }),
    ...heavierDecision(one, other),
    // Each client's word reaches the model.
    ...(contexts.length === 0 ? {} : { additionalContext: contexts.join("\n") }),
  }
}

/** Merges decisions of a `PermissionRequest` hook: objects with a `behavior`. */
function heavierDecision(one: Fields, other: Fields): Fields {
  const [first, second] = [fieldOf(one, "decision"), fieldOf(other, "decision")]
  if (first === undefined || second === undefined) return {}
  return { decision: weightOf(second["behavior"]) > weightOf(first["behavior"]) ? second : first }
}

/** The weightier of two decisions, with its own reason and not the other's. */
function weighed(one: Fields, other: Fields, fields: { name: string; reason: string }): Fields {
  const [first, second] = [one[fields.name], other[fields.name]]
  if (typeof first !== "string" || typeof second !== "string") {
    const decided = typeof first === "string" ? one : typeof second === "string" ? other : undefined
    return decided === undefined ? {} : pick(decided, fields)
  }
  return pick(weightOf(second) > weightOf(first) ? other : one, fields)
}

function pick(from: Fields, { name, reason }: { name: string; reason: string }): Fields {
  return { [name]: from[name], [reason]: from[reason] }
}

function weightOf(decision: unknown): number {
  return typeof decision === "string" ? (WEIGHT[decision] ?? 0) : 0
}

function firstSaid(one: Fields, other: Fields): Fields {
  const said = { ...one }
  for (const [name, value] of Object.entries(other)) {
    if (said[name] === undefined || said[name] === null || said[name] === "") said[name] = value
  }
  return said
}

/** What a hook that blocks when it fails says when it failed, in the words that its event understands. */
export function blockingOutput(event: string, reason: string): Fields {
  switch (event) {
    case "PreToolUse": {
      const decision = { permissionDecision: "deny", permissionDecisionReason: reason }
      return { hookSpecificOutput: { hookEventName: event, ...decision } }
    }
    case "PermissionRequest":
      return { hookSpecificOutput: { hookEventName: event, decision: { behavior: "deny", message: reason } } }
    case "Stop":
    case "SubagentStop":
      // To block a stop is to go on: a hook that is gone would make the agent work for ever.
      return { continue: false, stopReason: reason }
    default:
      return { decision: "block", reason }
  }
}
