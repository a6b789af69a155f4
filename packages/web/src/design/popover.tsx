import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react"
import { useLayer } from "../app/router.tsx"
import { classes } from "./classes.ts"
import { place } from "./menu.tsx"

interface PopoverProps {
  readonly label: string
  readonly trigger: ReactNode
  readonly className?: string
  /** Drawn only while it is open. */
  readonly children: () => ReactNode
}

/** A button, and what it opens beside itself. Escape, Back, a click elsewhere and the button close it. */
export function Popover({ label, trigger, className, children }: PopoverProps) {
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  const id = useId()
  useLayer(open, close)

  useEffect(() => {
    const element = popup.current
    if (!open || element === null || button.current === null) return undefined
    element.showPopover()
    place(element, button.current.getBoundingClientRect())
    element.focus()
    const onToggle = (event: Event) => {
      if (event instanceof ToggleEvent && event.newState === "closed") setOpen(false)
    }
    element.addEventListener("beforetoggle", onToggle)
    return () => element.removeEventListener("beforetoggle", onToggle)
  }, [open])

  function onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape") return
    close()
    event.preventDefault()
    event.stopPropagation()
  }

  function close(): void {
    setOpen(false)
    button.current?.focus()
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
        className={classes(
          "flex min-h-7 shrink-0 items-center gap-1 rounded-control px-1.5 hover:bg-sunken hover:text-text aria-expanded:bg-sunken coarse:min-h-11",
          className,
        )}
      >
        {trigger}
      </button>
      {open && (
        <div
          ref={popup}
          id={id}
          popover="auto"
          role="dialog"
          tabIndex={-1}
          aria-label={label}
          onKeyDown={onKey}
          className="popup fixed m-0 flex max-h-[80vh] w-96 max-w-[calc(100vw-2rem)] flex-col gap-4 overflow-y-auto rounded-card border border-line bg-raised p-4 whitespace-normal text-text shadow-popover outline-none"
        >
          {children()}
        </div>
      )}
    </>
  )
}
