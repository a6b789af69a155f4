import { type ReactNode, useState } from "react"
import { NextIcon } from "../design/icons.tsx"
import type { FieldProblem } from "./launch.ts"

interface MorePartProps {
  readonly title: string
  readonly startsOpen: boolean
  /** Problem of a field in this part. The part opens for each new problem and stays open once it is fixed. */
  readonly problem: FieldProblem | undefined
  readonly children: ReactNode
}

/** A part of the form that most can do without. */
export function MorePart({ title, startsOpen, problem, children }: MorePartProps) {
  const [isOpen, setOpen] = useState(startsOpen)
  const [before, setBefore] = useState(problem)
  if (problem !== before) {
    setBefore(problem)
    if (problem !== undefined) setOpen(true)
  }
  return (
    <details className="group" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex min-h-8 w-fit list-none items-center gap-1.5 rounded-control text-dense font-medium text-text-2 hover:text-text coarse:min-h-11 [&::-webkit-details-marker]:hidden">
        <NextIcon size={12} className="group-open:rotate-90" />
        {title}
      </summary>
      {children}
    </details>
  )
}
