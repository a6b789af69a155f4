import type { ReactNode } from "react"
import { classes } from "../../design/classes.ts"
import type { SeenGate } from "./seen-gate.ts"

interface BodyBoxProps {
  readonly label: string
  readonly gate: SeenGate
  readonly className?: string
  readonly children: ReactNode
}

/** What is asked. It gives way to the buttons below it, and scrolls; its end is watched. */
export function BodyBox({ label, gate, className, children }: BodyBoxProps) {
  return (
    <div
      // What scrolls must be reachable without a pointer.
      tabIndex={0}
      role="group"
      aria-label={label}
      className={classes(
        // Nothing in it may give way instead: what is squeezed out of sight would count as seen. What is only read aloud stays inside.
        "relative flex min-h-14 flex-col gap-2 overflow-y-auto rounded-control *:shrink-0",
        gate.isShowingAll && "shrink-0",
        className,
      )}
    >
      {children}
      <div ref={gate.end} className="-mt-2 h-px shrink-0" />
    </div>
  )
}
