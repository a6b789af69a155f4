import { isUsualGrant } from "@signalbox/transcript"
import type { ReactNode } from "react"
import { DownIcon } from "../../design/icons.tsx"
import { Menu, type MenuEntry } from "../../design/menu.tsx"
import type { Suggestion } from "./standing-permissions.tsx"

/** The scopes that people choose from, and where the CLI keeps a rule of each. */
const SCOPES = [
  { destination: "session", label: "Allow in this session", kept: "until it ends" },
  { destination: "localSettings", label: "Allow in this project", kept: ".claude/settings.local.json" },
  { destination: "userSettings", label: "Allow everywhere", kept: "~/.claude/settings.json" },
] as const

/** More rules than these are chosen one by one. */
const MAX_RULES = 10

type Update = Suggestion["update"]

interface ScopeChoice {
  readonly label: string
  /** Everything that would be stored, and where. */
  readonly stores: readonly string[]
  readonly updates: readonly Update[]
}

/** What could be stored along with an allowance, by scope; none where there is nothing usual to store. Pure. */
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

interface AllowMenuProps {
  /** None: nothing can be remembered, or not yet. */
  readonly suggestions: readonly Suggestion[]
  /** The button that allows once. */
  readonly children: ReactNode
  readonly onAllow: (updates: readonly Update[]) => void
  /** Shows each rule with a box to tick. */
  readonly onChoose: () => void
}

/** Beside the button that allows once: the same, remembered. Each entry shows what it would store. */
export function AllowMenu({ suggestions, children, onAllow, onChoose }: AllowMenuProps) {
  const scopes = scopeChoices(suggestions).map(
    ({ label, stores, updates }): MenuEntry => ({ label, details: stores, onSelect: () => onAllow(updates) }),
  )
  return (
    <span data-split-button className="order-last flex gap-px tablet:order-none coarse:grow coarse:basis-36">
      {children}
      {suggestions.length > 0 && (
        <Menu
          label="Allow and remember"
          trigger={<DownIcon size={14} />}
          entries={[...scopes, { label: "Choose rules…", onSelect: onChoose }]}
          className="rounded-s-none! border border-edge"
        />
      )}
    </span>
  )
}
