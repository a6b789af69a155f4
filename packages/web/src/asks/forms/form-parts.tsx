import type { Ask } from "@signalbox/client"
import { type ComponentProps, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { INPUT } from "../../design/field.tsx"
import { keepReason, recentReasons, useAskDraft } from "../answer/ask-drafts.ts"
import type { BareAnswer } from "../answer/send-answer.ts"

interface DenyRowProps {
  readonly ask: Pick<Ask, "id" | "inputHash">
  /** It was opened to be typed into. */
  readonly takesFocus: boolean
  readonly canAct: boolean
  /** What the button does. */
  readonly label: string
  readonly look?: "danger" | "primary"
  readonly fieldLabel?: string
  /** What is said before the reason. */
  readonly prefix?: string
  readonly onDeny: (answer: BareAnswer) => void
  readonly onBack: () => void
}

/** Why not. It can be left empty; what was said lately is one click away. */
export function DenyRow(props: DenyRowProps) {
  const { ask, takesFocus, canAct, label, look = "danger", onDeny, onBack } = props
  const { fieldLabel = "Reason for Claude (optional)", prefix = "" } = props
  const [reason, setReason] = useAskDraft(ask, "reason", "")
  const [recent] = useState(recentReasons)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (takesFocus) field.current?.focus()
  }, [takesFocus])
  const deny = (interrupt: boolean) => {
    if (!canAct) return
    keepReason(reason.trim())
    const message = [prefix, reason.trim()].filter((part) => part !== "").join("\n\n")
    onDeny({ behavior: "deny", ...(message === "" ? {} : { message }), ...(interrupt ? { interrupt } : {}) })
  }
  const insert = (kept: string) => {
    setReason(reason.trim() === "" ? kept : `${reason.trimEnd()}\n${kept}`)
    field.current?.focus()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === "Enter" && !event.shiftKey) {
      if (!event.repeat) deny(event.ctrlKey || event.metaKey)
    } else if (event.key === "Escape") onBack()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="flex flex-col gap-2">
      <textarea
        ref={field}
        data-reason
        aria-label={fieldLabel}
        placeholder={fieldLabel}
        rows={Math.min(8, Math.max(2, reason.split("\n").length))}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={onKey}
        className={INPUT}
      />
      {recent.length > 0 && (
        <div role="group" aria-label="Recent reasons" className="flex flex-wrap gap-1">
          {recent.map((kept) => (
            <Button key={kept} look="quiet" onClick={() => insert(kept)} className="max-w-60 border-line! text-dense!">
              <bdi className="truncate">{kept}</bdi>
            </Button>
          ))}
        </div>
      )}
      <ActionButtons>
        <Button look={look} aria-disabled={!canAct} onClick={() => deny(false)}>
          {label}
        </Button>
        <Button aria-disabled={!canAct} onClick={() => deny(true)}>
          {label} and interrupt
        </Button>
        <Button look="quiet" onClick={onBack}>
          Back
        </Button>
      </ActionButtons>
    </div>
  )
}

/** Where a request stands: below a transcript, beside the inbox's list, or on a screen of its own. */
export type AskPlace = "dock" | "page" | "sheet"

/** What a form of an ask needs: whether it may act now, and how it answers. */
export interface AskFormProps {
  readonly ask: Ask
  /** False: nothing may be decided now, and the buttons say so. */
  readonly canAct: boolean
  /** Does nothing while the card is not armed; says whether it went out. */
  readonly answer: (answer: BareAnswer, alike?: readonly Ask[]) => boolean
  readonly place: AskPlace
  /** How the answer fares: it stands with the buttons. */
  readonly notes: ReactNode
}

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
    <Button
      look="primary"
      data-act="primary"
      // A long label takes two lines on a phone, so that the button stays beside the others.
      className="order-last tablet:order-none coarse:grow coarse:basis-36 coarse:whitespace-normal"
      {...props}
    />
  )
}

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

export interface SeenGate {
  /** For what stands at the end. */
  readonly end: (element: HTMLElement | null) => void
  /** The whole of it was on the screen, or it was short enough to be. */
  readonly isOpen: boolean
  readonly showAll: () => void
  readonly isShowingAll: boolean
}

/** What is longer than its box must be seen to its end before it can be allowed. Another content begins anew. */
export function useSeenGate(contentKey: string): SeenGate {
  const [sentinel, setSentinel] = useState<HTMLElement | null>(null)
  const [seenKey, setSeenKey] = useState<string | undefined>(undefined)
  const [shownKey, setShownKey] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (sentinel === null) return undefined
    let isOnScreen = false
    const look = () => {
      if (isOnScreen && !isCovered(sentinel)) setSeenKey(contentKey)
    }
    // Within the screen, not only within its box: what the box itself is in may be scrolled too.
    const observer = new IntersectionObserver((entries) => {
      isOnScreen = entries.at(-1)?.isIntersecting === true
      look()
    })
    observer.observe(sentinel)
    addEventListener("scroll", look, { capture: true, passive: true })
    addEventListener("resize", look)
    return () => {
      observer.disconnect()
      removeEventListener("scroll", look, { capture: true })
      removeEventListener("resize", look)
    }
  }, [sentinel, contentKey])
  const isShowingAll = shownKey === contentKey
  return {
    end: setSentinel,
    isOpen: seenKey === contentKey || isShowingAll,
    isShowingAll,
    showAll: () => setShownKey(contentKey),
  }
}

/** On a small screen the buttons lie over what is asked until it is scrolled. */
function isCovered(sentinel: HTMLElement): boolean {
  const bar = sentinel.closest("[data-ask]")?.querySelector("[data-actions]")
  return bar !== null && bar !== undefined && sentinel.getBoundingClientRect().top > bar.getBoundingClientRect().top
}

/** Why it cannot be allowed yet, and what to do about it. */
export function GateHint({ id, gate }: { readonly id: string; readonly gate: SeenGate }) {
  if (gate.isOpen) return null
  return (
    <p className="flex items-center gap-2 text-dense text-caution">
      <span id={id}>Scroll to the end, or show all.</span>
      <Button look="quiet" onClick={gate.showAll}>
        Show all
      </Button>
    </p>
  )
}
