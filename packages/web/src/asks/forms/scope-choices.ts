import { isUsualGrant } from "@signalbox/transcript"
import { DESTINATIONS, type Suggestion } from "./standing-permissions.tsx"

/** By scope: where a rule is kept. A session's rules outlive its agent: the hub gives them to the one that resumes it. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ["session", "for this session, until revoked"],
  ["localSettings", ".claude/settings.local.json"],
  ["userSettings", "~/.claude/settings.json"],
])

/** More rules than these are chosen one by one. */
const MAX_RULES = 10

export type Update = Suggestion["update"]

interface ScopeChoice {
  readonly label: string
  /** Everything that would be stored, and where. */
  readonly stores: readonly string[]
  readonly updates: readonly Update[]
}

/** Choices to store something along with an allowance, by scope; none where there is nothing usual to store. Pure. */
export function scopeChoices(suggestions: readonly Suggestion[]): readonly ScopeChoice[] {
  const usual = suggestions.filter(({ update, destination }) => isUsualGrant(update) && destination !== "cliArg")
  const rules = usual.flatMap(({ words, rules: listed }) => listed.map((rule) => `${words} ${rule}`))
  if (rules.length === 0 || rules.length > MAX_RULES) return []
  return DESTINATIONS.flatMap(({ value: destination, label }) => {
    const kept = KEPT.get(destination)
    if (kept === undefined) return []
    return {
      label: `Allow in ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
      stores: [...rules, kept],
      updates: usual.map(({ update }) => ({ ...update, destination })),
    }
  })
}
