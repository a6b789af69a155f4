import type { ComponentProps, ReactNode } from "react"
import { Button } from "../../design/button.tsx"

interface ActionBarProps {
  /** How the answer fares. */
  readonly notes: ReactNode
  readonly children: ReactNode
}

/** What can be done about a request: always in view, however long the request is. */
export function ActionBar({ notes, children }: ActionBarProps) {
  return (
    <div data-actions className="sticky bottom-0 -mx-1 mt-auto flex shrink-0 flex-col gap-2 bg-surface px-1 pt-1 pb-1">
      {notes}
      {children}
    </div>
  )
}

/** The buttons: on a phone the one that does it is on the right, the one that does not on the left, and both are broad. */
export function ActionButtons({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-wrap gap-3">{children}</div>
}

/** The button that does it, which is also what `y` does. */
export function PrimaryAction(props: Omit<ComponentProps<typeof Button>, "look" | "className">) {
  return (
    <Button look="primary" data-act="primary" className="order-last tablet:order-none coarse:flex-auto" {...props} />
  )
}
