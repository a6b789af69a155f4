import { type FocusEvent, type KeyboardEvent, type ReactNode, useRef } from "react"
import { DownIcon } from "../../design/icons.tsx"
import { Menu, type MenuEntry } from "../../design/menu.tsx"
import { MOMENT_MS } from "../answer/end-seen.ts"
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
    <span
      {...useCareful()}
      data-split-button
      className="order-last flex gap-px tablet:order-none coarse:grow coarse:basis-36"
    >
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

/** Choices that last: no key chooses for a moment after the menu opened, nor after a letter, which may be meant for a field. */
function useCareful() {
  const typedAt = useRef(0)
  const isInMenu = (target: EventTarget | null) => target instanceof Element && target.closest("[role=menu]") !== null
  return {
    onFocus({ target, relatedTarget }: FocusEvent) {
      if (isInMenu(target) && !isInMenu(relatedTarget)) typedAt.current = performance.now()
    },
    onKeyDownCapture(event: KeyboardEvent) {
      if (!isInMenu(event.target)) return
      const at = performance.now()
      const isChoice = event.key === "Enter" || event.key === " "
      const isSoon = at - typedAt.current < MOMENT_MS
      if (isChoice ? isSoon : event.key.length === 1) typedAt.current = at
      if (isChoice && isSoon) event.preventDefault()
    },
  }
}
