import type { Ask } from "@signalbox/client"
import { textOf } from "@signalbox/protocol"
import { isUsualGrant } from "@signalbox/transcript"
import { permissionWords } from "./permission-words.ts"

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
