import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react"
import { pressesOnce } from "../app/keyboard.ts"
import { useLayer } from "../app/router.tsx"
import { classes } from "./classes.ts"
import { CheckIcon } from "./icons.tsx"
import { VisibleText } from "./visible-text.tsx"

export interface MenuEntry {
  readonly label: string
  readonly onSelect: () => void
  readonly danger?: boolean
  readonly checked?: boolean
  /** Lines of code below the label: what it is about. */
  readonly details?: readonly string[]
}

interface MenuProps {
  readonly label: string
  readonly trigger: ReactNode
  readonly entries: readonly MenuEntry[]
  readonly className?: string
}

const GAP = 4

export function Menu({ label, trigger, entries, className }: MenuProps) {
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  const id = useId()
  useLayer(open, close)

  useEffect(() => {
    const menu = popup.current
    if (!open || menu === null || button.current === null) return undefined
    menu.showPopover()
    place(menu, button.current.getBoundingClientRect())
    itemsOf(menu)[0]?.focus()
    const onToggle = (event: Event) => {
      if (event instanceof ToggleEvent && event.newState === "closed") setOpen(false)
    }
    // Not `toggle`, which comes a moment after the browser has hidden the menu: a key in that moment would find it open.
    menu.addEventListener("beforetoggle", onToggle)
    return () => menu.removeEventListener("beforetoggle", onToggle)
  }, [open])

  function onKey(event: KeyboardEvent<HTMLDivElement>): void {
    pressesOnce(event)
    const items = itemsOf(event.currentTarget)
    const current = items.findIndex((item) => item === document.activeElement)
    const next = nextIndex(event.key, { current, items })
    if (event.key === "Escape" || event.key === "Tab") close()
    else if (next === undefined) return
    else items[next]?.focus()
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
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onKeyDown={pressesOnce}
        onClick={() => setOpen(!open)}
        className={classes(
          "inline-flex size-8 shrink-0 items-center justify-center rounded-control text-text-2 hover:bg-sunken hover:text-text aria-expanded:bg-sunken coarse:size-11",
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
          role="menu"
          tabIndex={-1}
          aria-label={label}
          onKeyDown={onKey}
          className="popup fixed m-0 max-h-[80vh] min-w-44 overflow-y-auto rounded-card border border-line bg-raised p-1 text-text shadow-popover"
        >
          {entries.map(({ label: name, onSelect, danger, checked, details }) => (
            <button
              key={name}
              type="button"
              role={checked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={checked}
              tabIndex={-1}
              onClick={() => {
                close()
                onSelect()
              }}
              className={classes(
                "flex min-h-8 w-full items-center justify-between gap-4 rounded-control px-2.5 py-1 text-start text-ui outline-none hover:bg-accent-soft focus:bg-accent-soft coarse:min-h-11",
                danger === true && "text-danger",
              )}
            >
              {details === undefined ? name : <Detailed name={name} details={details} />}
              {checked === true && <CheckIcon size={14} />}
            </button>
          ))}
        </div>
      )}
    </>
  )
}

function Detailed({ name, details }: { readonly name: string; readonly details: readonly string[] }) {
  return (
    <span className="flex min-w-0 max-w-96 flex-col">
      <span>{name}</span>
      {details.map((detail) => (
        <VisibleText as="span" key={detail} className="wrap-anywhere font-mono text-meta text-text-2" text={detail} />
      ))}
    </span>
  )
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')]
}

/** Arrows go round, Home and End to the ends, a letter to the next entry that begins with it. */
function nextIndex(
  key: string,
  { current, items }: { current: number; items: readonly HTMLElement[] },
): number | undefined {
  const count = items.length
  if (key === "ArrowDown") return (current + 1) % count
  if (key === "ArrowUp") return (current - 1 + count) % count
  if (key === "Home") return 0
  if (key === "End") return count - 1
  if (key.length !== 1 || key === " ") return undefined
  const order = items.map((_, index) => (current + 1 + index) % count)
  return order.find((index) => items[index]?.textContent?.toLowerCase().startsWith(key.toLowerCase()))
}

/** Below its button, ends aligned; above where there is no room below. */
export function place(menu: HTMLElement, anchor: DOMRect): void {
  const { width, height } = menu.getBoundingClientRect()
  const fitsBelow = anchor.bottom + GAP + height <= innerHeight
  const top = fitsBelow ? anchor.bottom + GAP : Math.max(GAP, anchor.top - GAP - height)
  const left = Math.min(Math.max(GAP, anchor.right - width), innerWidth - width - GAP)
  Object.assign(menu.style, { top: `${top}px`, left: `${left}px` })
}
