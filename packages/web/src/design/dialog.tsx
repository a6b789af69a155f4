import { type ReactNode, useId, useLayoutEffect, useRef } from "react"
import { useLayer } from "../app/router.tsx"
import { Button, IconButton } from "./button.tsx"
import { classes } from "./classes.ts"
import { CloseIcon } from "./icons.tsx"

/** For what slides in from an edge, together with the place that it starts from. */
export const SLIDING = "transition-transform duration-180 ease-[ease-out]"

type DialogLook = "window" | "drawer"

const LOOKS: Readonly<Record<DialogLook, string>> = {
  window: "popup inset-x-2 top-[8vh] mx-auto max-h-[84vh] w-auto rounded-sheet border bg-raised",
  drawer: `${SLIDING} starting:-translate-x-full backdrop:bg-[oklch(0.15_0.01_262/0.45)] inset-y-0 start-0 m-0 h-dvh max-h-none w-80 border-e bg-canvas`,
}

interface DialogProps {
  readonly title: string
  readonly open: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  readonly className?: string
  readonly hideTitle?: boolean
  /** Over the middle of the page, or along its start. */
  readonly look?: DialogLook
  readonly role?: "dialog" | "alertdialog"
  /** It has an address of its own, which Back leaves. Any other gets an entry of the history while it is open. */
  readonly hasAddress?: boolean
  /** Something would be lost by closing it: neither Escape nor a click beside it does; its buttons do, and Back. */
  readonly isHeld?: boolean
}

/**
 * The browser's own dialog: focus stays inside, Escape, Back and a click beside it close it, and focus returns to where it was.
 * It must stay mounted while it closes, or the browser does not know where to return to.
 */
export function Dialog({
  title,
  open,
  onClose,
  children,
  className,
  hideTitle = false,
  look = "window",
  role = "dialog",
  hasAddress = false,
  isHeld = false,
}: DialogProps) {
  useLayer(open && !hasAddress, onClose)
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before what is in it looks for its focus.
  useLayoutEffect(() => {
    const dialog = element.current
    if (open && dialog?.open === false) dialog.showModal()
    else if (!open && dialog?.open === true) dialog.close()
  }, [open])
  return (
    // Escape is the keyboard's way of what the click does.
    <dialog
      ref={element}
      role={role}
      aria-labelledby={id}
      onCancel={(event) => {
        // React lets it rise: one that stands in this one closes by itself alone.
        if (event.target !== element.current) return
        event.preventDefault()
        if (!isHeld) onClose()
      }}
      // A browser may insist on closing it.
      onClose={(event) => event.target === element.current && open && onClose()}
      onClick={(event) => event.target === element.current && !isHeld && onClose()}
      className={classes(
        "fixed border-line p-0 whitespace-normal text-text shadow-popover outline-none",
        LOOKS[look],
        open && "flex flex-col",
        className?.includes("max-w-") !== true && "max-w-xl",
        className,
      )}
    >
      {open && (
        <>
          <div className={classes("flex items-center justify-between gap-2 px-4 pt-3 pb-2", hideTitle && "sr-only")}>
            <h2 id={id} className="text-title font-bold">
              {title}
            </h2>
            {!hideTitle && (
              <IconButton label="Close" onClick={onClose}>
                <CloseIcon />
              </IconButton>
            )}
          </div>
          {children}
        </>
      )}
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  /** The consequence, in words. */
  readonly consequence: string
  readonly action: string
  readonly open: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function Confirm({ title, consequence, action, open, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} open={open} onClose={onClose} role="alertdialog" className="top-[20vh] max-w-md">
      <div className="flex flex-col gap-4 px-4 pb-4">
        <p className="text-text-2">{consequence}</p>
        <div className="flex justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            onClick={() => {
              onClose()
              onConfirm()
            }}
          >
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
