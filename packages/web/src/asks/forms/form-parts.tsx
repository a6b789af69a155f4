import type { Ask } from "@signalbox/client"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { Button } from "../../design/button.tsx"
import { INPUT } from "../../design/field.tsx"
import { useAskDraft } from "../answer/ask-drafts.ts"
import { keepReason, recentReasons } from "../answer/recent-reasons.ts"
import type { BareAnswer } from "../answer/send-answer.ts"
import { ActionButtons } from "./action-bar.tsx"

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
