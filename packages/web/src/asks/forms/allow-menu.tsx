import type { ReactNode } from "react"
import { DownIcon } from "../../design/icons.tsx"
import { Menu, type MenuEntry } from "../../design/menu.tsx"
import { scopeChoices, type Update } from "./scope-choices.ts"
import type { Suggestion } from "./standing-permissions.tsx"

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
          className="order-last rounded-s-none! border border-edge"
        />
      )}
    </span>
  )
}
