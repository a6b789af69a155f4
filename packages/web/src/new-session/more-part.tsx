import { type ReactNode, useState } from "react"
import { NextIcon } from "../design/icons.tsx"

interface MorePartProps {
  readonly title: string
  readonly startsOpen: boolean
  /** Something in it has to be mended: it opens for that, and stays as it is when it was. */
  readonly hasProblem: boolean
  readonly children: ReactNode
}

/** A part of the form that most can do without. */
export function MorePart({ title, startsOpen, hasProblem, children }: MorePartProps) {
  const [isOpen, setOpen] = useState(startsOpen)
  const [hadProblem, setHad] = useState(false)
  if (hasProblem !== hadProblem) {
    setHad(hasProblem)
    if (hasProblem) setOpen(true)
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
