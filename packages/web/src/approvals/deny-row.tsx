import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { Button } from "../design/button.tsx"
import { INPUT } from "../design/field.tsx"
import type { BareAnswer } from "./use-answer.ts"

interface DenyRowProps {
  readonly canAct: boolean
  readonly onDeny: (answer: BareAnswer) => void
  readonly onBack: () => void
}

const KEY = "signalbox:reasons"
const MAX_REASONS = 4

function recentReasons(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept)
      ? kept.filter((reason): reason is string => typeof reason === "string").slice(0, MAX_REASONS)
      : []
  } catch {
    return []
  }
}

function keepReason(reason: string): void {
  if (reason === "") return
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify([reason, ...recentReasons().filter((kept) => kept !== reason)].slice(0, MAX_REASONS)),
    )
  } catch {
    // Then it is not offered the next time.
  }
}

export function DenyRow({ canAct, onDeny, onBack }: DenyRowProps) {
  const [reason, setReason] = useState("")
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  const deny = (interrupt: boolean) => {
    keepReason(reason.trim())
    const message = reason.trim()
    onDeny({ behavior: "deny", ...(message === "" ? {} : { message }), ...(interrupt ? { interrupt } : {}) })
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.repeat) return
    if (event.key === "Enter" && !event.shiftKey) deny(event.ctrlKey || event.metaKey)
    else if (event.key === "Escape") onBack()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="flex flex-col gap-2">
      <textarea
        ref={field}
        aria-label="Reason for Claude (optional)"
        placeholder="Reason for Claude (optional)"
        rows={2}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={onKey}
        className={INPUT}
      />
      {recentReasons().length > 0 && (
        <div className="flex flex-wrap gap-1">
          {recentReasons().map((kept) => (
            <Button
              key={kept}
              look="quiet"
              onClick={() => setReason(kept)}
              className="max-w-60 border-line! text-dense!"
            >
              <span className="truncate">{kept}</span>
            </Button>
          ))}
        </div>
      )}
      <div className="flex flex-wrap gap-3">
        <Button look="danger" aria-disabled={!canAct} onClick={() => deny(false)}>
          Deny
        </Button>
        <Button aria-disabled={!canAct} onClick={() => deny(true)}>
          Deny and interrupt
        </Button>
        <Button look="quiet" onClick={onBack}>
          Back
        </Button>
      </div>
    </div>
  )
}
