import { type ReactNode, useId } from "react"
import { classes } from "../../design/classes.ts"
import { NextIcon } from "../../design/icons.tsx"

interface DisclosureProps {
  readonly heading: ReactNode
  readonly open: boolean
  readonly onToggle: () => void
  readonly children: ReactNode
  /** Without anything inside there is nothing to open. */
  readonly hasBody?: boolean
  /** Shown whether open or not. */
  readonly below?: ReactNode
}

/** A line that opens. The whole line is the button. */
export function Disclosure({ heading, open, onToggle, children, hasBody = true, below }: DisclosureProps) {
  const id = useId()
  return (
    <div>
      {hasBody ? (
        <button
          type="button"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={onToggle}
          className="-mx-2 flex min-h-7 w-[calc(100%+1rem)] items-center gap-2 rounded-control px-2 text-start text-dense text-text-2 hover:bg-sunken coarse:min-h-11"
        >
          <span className="flex min-w-0 flex-1 items-center gap-2">{heading}</span>
          <NextIcon size={13} className={classes("shrink-0 text-text-3", open && "rotate-90")} />
        </button>
      ) : (
        <div className="flex min-h-7 items-center gap-2 text-dense text-text-2 coarse:min-h-11">{heading}</div>
      )}
      <div className={classes("empty:hidden", open && hasBody && "pb-1")}>{below}</div>
      {open && hasBody && (
        <div id={id} className="flex flex-col gap-2 pt-1 pb-2">
          {children}
        </div>
      )}
    </div>
  )
}
