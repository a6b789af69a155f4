import type { Ask } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol"
import { isUsualGrant, visibleLine } from "@signalbox/transcript"

const READABLE = new Set(["addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"])

/** The standing permissions that an agent suggests, as people number them. A grant that we cannot show is not offered. */
export function offeredGrants<Update>(
  suggestions: readonly Update[] | undefined,
  isSuppressed: boolean,
): readonly Update[] {
  return isSuppressed ? [] : (suggestions ?? []).filter((update) => READABLE.has(textOf(update, "type") ?? ""))
}

/** The grants that a request of the hub offers. */
export function grantsOf({ kind, request, suggestions }: Ask): readonly unknown[] {
  return kind === "tool" ? offeredGrants(suggestions, request["suppress_always_allow_rule"] === true) : []
}

/** The index of the only grant that "always" stores. */
export function usualGrant(grants: readonly unknown[]): number | undefined {
  const index = grants.findIndex(isUsualGrant)
  return index === -1 ? undefined : index
}

/** One line for each grant: its number, and the word or key that stores it without one. */
export function grantLines(grants: readonly unknown[], { always, ticked }: GrantMarks): readonly string[] {
  const usual = usualGrant(grants)
  return grants.map((grant, index) => {
    const box = ticked === undefined ? "" : `[${ticked.has(index) ? "x" : " "}] `
    return `${box}${index + 1}. ${permissionWords(grant)}${index === usual ? ` (${always})` : ""}`
  })
}

interface GrantMarks {
  /** How people choose the usual grant. */
  readonly always: string
  /** The grants that are ticked, where they can be ticked. */
  readonly ticked?: ReadonlySet<number>
}

/** The grants with these numbers, each once, or none if one of the numbers is not offered. Without a number: the usual one. */
export function chosenGrants<Update>(grants: readonly Update[], numbers: readonly number[]): Update[] {
  const usual = numbers.length === 0 ? usualGrant(grants) : undefined
  const indices = usual === undefined ? [...new Set(numbers)].map((number) => number - 1) : [usual]
  return indices.every((index) => index in grants) ? grants.filter((_, index) => indices.includes(index)) : []
}

const DESTINATIONS: Readonly<Record<string, string>> = {
  session: "for this session",
  localSettings: "in this project (just me)",
  projectSettings: "in this project (everyone)",
  userSettings: "in all projects on this machine",
  cliArg: "as a start option",
}

/** A standing permission in words: "allow Bash(npm ci:*), in this project (just me)". */
export function permissionWords(update: unknown): string {
  if (!isObject(update)) return "an unknown permission"
  const where = DESTINATIONS[textOf(update, "destination") ?? ""] ?? `in ${textOf(update, "destination") ?? "?"}`
  return visibleLine(`${whatOf(update)}, ${where}`)
}

function whatOf(update: Readonly<Record<string, unknown>>): string {
  const { rules, directories } = update
  switch (update["type"]) {
    case "addRules":
    case "replaceRules":
    case "removeRules": {
      const verb = update["type"] === "removeRules" ? "no longer " : ""
      const named = Array.isArray(rules) ? [...new Set(rules.map(ruleWords))].join(" and ") : "everything"
      return `${verb}${textOf(update, "behavior") ?? "allow"} ${named}`
    }
    case "setMode":
      return `switch to mode ${textOf(update, "mode") ?? "?"}`
    case "addDirectories":
    case "removeDirectories": {
      const verb = update["type"] === "addDirectories" ? "trust" : "no longer trust"
      return `${verb} ${Array.isArray(directories) ? directories.join(", ") : "a folder"}`
    }
    default:
      return textOf(update, "type") ?? "an unknown permission"
  }
}

function ruleWords(rule: unknown): string {
  const content = textOf(rule, "ruleContent")
  const tool = textOf(rule, "toolName") ?? "a tool"
  return content === undefined ? tool : `${tool}(${content})`
}
