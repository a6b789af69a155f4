import { isUsualGrant } from "@signalbox/transcript"
import type { Suggestion } from "./standing-permissions.tsx"

/** The scopes that people choose from, and where the CLI keeps a rule of each. */
const SCOPES = [
  { destination: "session", label: "Allow in this session", kept: "until it ends" },
  { destination: "localSettings", label: "Allow in this project", kept: ".claude/settings.local.json" },
  { destination: "userSettings", label: "Allow everywhere", kept: "~/.claude/settings.json" },
] as const

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
  return SCOPES.map(({ destination, label, kept }) => ({
    label,
    stores: [...rules, kept],
    updates: usual.map(({ update }) => ({ ...update, destination })),
  }))
}
