import type { Ask } from "@signalbox/client"
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react"
import { Button, KeyHint } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { fieldKeys, INPUT } from "../../design/field.tsx"
import { keepReason, type OpenRow, recentReasons, useAskDraft } from "../answer/ask-drafts.ts"
import type { BareAnswer } from "../answer/send-answer.ts"
import type { SeenGate } from "./seen-gate.tsx"

interface DenyRowProps extends Pick<AskFormProps, "ask" | "canAct">, Pick<OpenRow, "back" | "takesFocus"> {
  /** The name of the button. */
  readonly label: string
  readonly look?: "danger" | "primary"
  readonly fieldLabel?: string
  /** The text that goes before the reason. */
  readonly prefix?: string
  readonly onDeny: (answer: BareAnswer) => void
}

/** Why not. It can be left empty; what was said lately is one click away. */
export function DenyRow(props: DenyRowProps) {
  const { ask, takesFocus, canAct, label, look = "danger", onDeny, back } = props
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
        onKeyDown={fieldKeys({
          Escape: back,
          Enter: ({ shiftKey, repeat, ctrlKey, metaKey }) => {
            if (shiftKey) return "not-here"
            return repeat ? undefined : deny(ctrlKey || metaKey)
          },
        })}
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
      {reason.trim() !== "" && (
        // The newest CLIs tell the model only that the call was rejected.
        <p className="text-meta text-text-3">
          {label} sends this reason. {label} and interrupt stops Claude at once, and Claude may not see the reason: send
          it as a message too.
        </p>
      )}
      <ActionButtons>
        <Button look={look} aria-disabled={!canAct} onClick={() => deny(false)}>
          {label}
        </Button>
        <Button aria-disabled={!canAct} onClick={() => deny(true)}>
          {label} and interrupt
        </Button>
        <Button look="quiet" onClick={back}>
          Back
        </Button>
      </ActionButtons>
    </div>
  )
}

/** The place of a request: below a transcript, there on a phone, beside the inbox's list, or on a screen of its own. */
export type AskPlace = "dock" | "phone" | "page" | "sheet"

/** A form of an ask needs to know whether it may act now, and how it answers. */
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

interface ActionBarProps extends Pick<AskFormProps, "notes"> {
  /** Set where the request must be seen to its end first. */
  readonly gate?: SeenGate
  /** The hint stands beside the buttons where they leave room: a row of its own would push the end of the request out of view. */
  readonly hasRoom?: boolean
  readonly children: ReactNode
}

/** The actions of a request: always in view, however long the request is. */
export function ActionBar({ notes, gate, hasRoom = false, children }: ActionBarProps) {
  return (
    <div data-actions className="sticky bottom-0 -mx-1 mt-auto flex shrink-0 flex-col gap-2 bg-surface px-1 pt-1 pb-1">
      {notes}
      {gate?.state === "unread" && (
        <p
          className={classes(
            "flex items-center gap-2 text-dense text-caution",
            hasRoom && "desktop:absolute desktop:end-1 desktop:bottom-1",
          )}
        >
          <span id={gate.hintId}>
            <span className="coarse:hidden">y, Space or Page Down reads on.</span>
            <span className="hidden coarse:inline">Scroll to the end{gate.showAll && ", or show all"}.</span>
          </span>
          {gate.showAll && (
            <Button look="quiet" onClick={gate.showAll}>
              Show all
            </Button>
          )}
        </p>
      )}
      {children}
    </div>
  )
}

/** The buttons: on a phone the one that does it is on the right, the one that does not on the left, and both are broad. */
export function ActionButtons({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-wrap gap-3">{children}</div>
}

/** Buttons that a letter presses too. A long label takes two lines on a phone, so that the button stays beside the others. */
const ACTS = {
  primary: {
    look: "primary",
    letter: "y",
    className: "order-last tablet:order-none coarse:grow coarse:basis-36 coarse:whitespace-normal",
  },
  edit: { look: "plain", letter: "e", className: "" },
  deny: { look: "plain", letter: "n", className: "order-first tablet:order-none coarse:flex-auto" },
} as const

/** Set where the reader must not allow: the id of the sentence that says why. */
export const AllowBarred = createContext<string | undefined>(undefined)

interface ActButtonProps {
  readonly act: keyof typeof ACTS
  readonly isReady: boolean
  /** Until the request was seen to its end, the button reads on in it. */
  readonly gate?: SeenGate
  readonly onPress: () => unknown
  /** False while a field has the letters. */
  readonly showsLetter?: boolean
  readonly children: ReactNode
}

export function ActButton({ act, isReady, gate, onPress, showsLetter = true, children }: ActButtonProps) {
  const { letter, look, className } = ACTS[act]
  const isUnread = gate?.state === "unread"
  const isHeld = gate !== undefined && !gate.isOpen && !isUnread
  const allowBarred = useContext(AllowBarred)
  const barred = act === "primary" ? allowBarred : undefined
  return (
    <Button
      data-act={act}
      data-unread={isUnread || undefined}
      // The end is in view, and not yet for long enough.
      data-held={isHeld || undefined}
      aria-disabled={!isUnread && (isHeld || !isReady || barred !== undefined)}
      aria-describedby={barred ?? (isUnread ? gate.hintId : undefined)}
      onClick={() => {
        const answer = () => barred === undefined && onPress()
        return gate === undefined ? answer() : gate.press(answer)
      }}
      look={isUnread ? "plain" : look}
      className={className}
    >
      {children}
      {showsLetter && <KeyHint>{letter}</KeyHint>}
    </Button>
  )
}
