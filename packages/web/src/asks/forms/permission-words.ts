import { isObject, textOf } from "@signalbox/protocol/envelope"

/** A standing permission as the CLI suggests it. */
export interface Suggestion {
  readonly update: Readonly<Record<string, unknown>>
  readonly words: string
  /** Code after the words: the rules themselves, all of them. A permission that is cut short is not what somebody agrees to. */
  readonly rules: readonly string[]
  readonly destination: string
}

export const DESTINATIONS = [
  { value: "session", label: "this session" },
  { value: "localSettings", label: "this project, only me" },
  { value: "projectSettings", label: "this project, everyone" },
  { value: "userSettings", label: "all my projects here" },
] as const

const MODES: Readonly<Record<string, string>> = {
  acceptEdits: "accept edits",
  default: "ask",
  plan: "plan",
  bypassPermissions: "bypass permissions",
  delegate: "delegate",
}

function ruleText(rule: unknown): string {
  if (!isObject(rule)) return ""
  const tool = textOf(rule, "toolName") ?? ""
  const content = rule["ruleContent"]
  return typeof content === "string" && content !== "" ? `${tool}(${content})` : tool
}

/** In words, each suggestion by itself; what we cannot read is not offered. */
export function suggestionsOf(suggestions: readonly unknown[] | undefined): readonly Suggestion[] {
  return (suggestions ?? []).flatMap((update) => {
    if (!isObject(update)) return []
    const destination = typeof update["destination"] === "string" ? update["destination"] : "session"
    const words = wordsOf(update)
    return words === undefined ? [] : [{ update, destination, ...words }]
  })
}

function wordsOf(update: Readonly<Record<string, unknown>>): Pick<Suggestion, "words" | "rules"> | undefined {
  const list = (field: string): readonly unknown[] => {
    const value = update[field]
    return Array.isArray(value) ? value : []
  }
  switch (update["type"]) {
    case "addRules":
    case "replaceRules": {
      const verb = { allow: "Always allow", deny: "Always deny", ask: "Always ask for" }[
        textOf(update, "behavior") ?? "allow"
      ]
      if (verb === undefined) return undefined
      const words = update["type"] === "addRules" ? verb : `Forget the rules of this kind, and ${verb.toLowerCase()}`
      return { words, rules: eachOnce(list("rules").map(ruleText)) }
    }
    case "removeRules": {
      const verb = { allow: "Stop always allowing", deny: "Stop always denying", ask: "Stop always asking for" }[
        textOf(update, "behavior") ?? "allow"
      ]
      return verb === undefined ? undefined : { words: verb, rules: eachOnce(list("rules").map(ruleText)) }
    }
    case "removeDirectories":
      return { words: "Stop trusting folder", rules: eachOnce(list("directories").map(String)) }
    case "addDirectories":
      return { words: "Trust folder", rules: eachOnce(list("directories").map(String)) }
    case "setMode": {
      const mode = textOf(update, "mode") ?? ""
      return { words: `Switch mode to ${MODES[mode] ?? mode}`, rules: [] }
    }
    default:
      return undefined
  }
}

function eachOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
