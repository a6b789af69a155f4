import type { Ask } from "@signalbox/client"
import { type KeyboardEvent, type ReactNode, useId, useState } from "react"
import { Button } from "../../design/button.tsx"
import { Confirm } from "../../design/dialog.tsx"
import { Field, INPUT } from "../../design/field.tsx"
import { DiffView } from "../../transcript/content/diff-view.tsx"
import { diffTexts } from "../../transcript/content/line-diff.ts"
import { useAskDraft } from "../answer/ask-drafts.ts"
import { ActionBar, ActionButtons, GateHint, PrimaryAction, type SeenGate } from "./form-parts.tsx"

type Input = Readonly<Record<string, unknown>>

interface EditInputProps {
  readonly ask: Pick<Ask, "id" | "inputHash">
  readonly tool: string
  readonly input: Input
  readonly canAct: boolean
  /** The request must be seen to its end, edited or not. */
  readonly gate: SeenGate
  /** The request itself: what was not seen yet stands above the field. */
  readonly request: ReactNode
  /** It was opened to be typed into. */
  readonly takesFocus: boolean
  /** What else the answer does, for the button's name. */
  readonly suffix: string
  readonly notes: ReactNode
  /** With the whole input if it was edited: without one the hub allows what was asked. */
  readonly onAllow: (edited?: Input) => void
  readonly onBack: () => void
}

/** The one field that people change, by tool; any other tool's input is changed as JSON. */
function fieldOf(tool: string, input: Input): string | undefined {
  const name = { Bash: "command", Edit: "new_string", Write: "content" }[tool]
  return name !== undefined && typeof input[name] === "string" ? name : undefined
}

const LABELS: Readonly<Record<string, string>> = {
  command: "Edit command",
  new_string: "Edit new text",
  content: "Edit content",
}

function read(text: string, field: string | undefined, input: Input): { input: Input } | { error: string } {
  if (field === "command" && text.trim() === "") return { error: "Enter a command, or deny the request." }
  if (field !== undefined) return { input: { ...input, [field]: text } }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { error: "Must be a JSON object: { … }" }
    return { input: { ...value } }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

export function EditInput(props: EditInputProps) {
  const { ask, tool, input, canAct, gate, request, takesFocus, suffix, notes, onAllow, onBack } = props
  const hint = useId()
  const field = fieldOf(tool, input)
  const original = field === undefined ? JSON.stringify(input, null, 2) : String(input[field])
  const [text, setText] = useAskDraft(ask, "edit", original)
  // Once there it stays: nothing moves under whoever reads it.
  const [showsRequest] = useState(!gate.isOpen)
  const [isLeaving, setLeaving] = useState(false)
  const edited = read(text, field, input)
  const isChanged = text !== original
  const leave = () => (isChanged ? setLeaving(true) : onBack())
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return
    event.preventDefault()
    event.stopPropagation()
    leave()
  }
  return (
    <>
      {showsRequest && request}
      <div className="-mx-1 flex min-h-14 flex-col gap-2 overflow-y-auto px-1 py-1">
        <Field label={LABELS[field ?? ""] ?? "Input (JSON)"} error={"error" in edited ? edited.error : undefined}>
          {(ids) => (
            <textarea
              {...ids}
              autoFocus={takesFocus}
              spellCheck={false}
              rows={Math.min(12, original.split("\n").length + 1)}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={onKey}
              className={`${INPUT} font-mono`}
            />
          )}
        </Field>
        {isChanged && <DiffView hunks={diffTexts(original, text)} />}
      </div>
      <ActionBar notes={notes}>
        <GateHint id={hint} gate={gate} />
        <ActionButtons>
          <PrimaryAction
            aria-disabled={!canAct || !gate.isOpen || "error" in edited}
            aria-describedby={gate.isOpen ? undefined : hint}
            onClick={() => gate.isOpen && "input" in edited && onAllow(isChanged ? edited.input : undefined)}
          >
            {gate.isOpen
              ? `${isChanged ? "Allow edited" : suffix === "" ? "Allow once" : "Allow"}${suffix}`
              : "Read to the end to allow"}
          </PrimaryAction>
          <Button look="quiet" onClick={leave}>
            Back
          </Button>
        </ActionButtons>
      </ActionBar>
      <Confirm
        title="Discard your changes?"
        consequence="Your edits will be lost. The request stays open."
        action="Discard"
        open={isLeaving}
        onClose={() => setLeaving(false)}
        onConfirm={() => {
          setText(original)
          onBack()
        }}
      />
    </>
  )
}
