import type { Ask } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { type ReactNode, useContext, useMemo, useState } from "react"
import { useHubStore } from "../../app/hub-context.ts"
import { useSelected } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import { Confirm } from "../../design/dialog.tsx"
import { Field, fieldKeys, INPUT } from "../../design/field.tsx"
import { plural } from "../../design/words.ts"
import { openAsks } from "../../fleet/ask-words.ts"
import { DiffView } from "../../transcript/content/diff-view.tsx"
import { diffTexts } from "../../transcript/content/line-diff.ts"
import { type OpenRow, useAskDraft, useAskRow } from "../answer/ask-drafts.ts"
import { identicalTo } from "../answer/ask-queue.ts"
import { focusCard } from "../answer/following-focus.ts"
import type { BareAnswer } from "../answer/send-answer.ts"
import { AllowMenu } from "./allow-menu.tsx"
import { ActButton, ActionBar, ActionButtons, AllowBarred, type AskFormProps, DenyRow } from "./form-parts.tsx"
import { BodyBox, type SeenGate, useSeenGate } from "./seen-gate.tsx"
import { Remember, suggestionsOf } from "./standing-permissions.tsx"
import { isLongRequest, ToolAskBody, useEditPreview } from "./tool-body.tsx"

type Input = Readonly<Record<string, unknown>>

const UNREAD = "Read to the end to allow"

/** May it use this tool, like this? */
export function ToolAsk({ ask, canAct, answer, place, notes }: AskFormProps) {
  const { row, open, back, takesFocus } = useAskRow(ask)
  const barred = useContext(AllowBarred)
  const [ticked, setTicked] = useState<ReadonlyMap<number, string>>(new Map())
  const [isForAll, setForAll] = useState(false)
  const [isChoosing, setChoosing] = useState(false)
  const preview = useEditPreview(ask)
  const isLong = useMemo(() => isLongRequest(ask, preview), [ask, preview])
  const gate = useSeenGate(`${ask.id}:${ask.inputHash}:${preview?.source ?? ""}`, isLong)
  // Once offered it stays: a menu that somebody has open must not go when the file's content takes the place of the request's.
  const [offeredOf, setOffered] = useState<string | undefined>(undefined)
  if (gate.isOpen && offeredOf !== ask.inputHash) setOffered(ask.inputHash)
  // Offered as soon as the end is in view: the buttons beside it must not move a moment later.
  const isOffered = offeredOf === ask.inputHash || gate.state === "looking"
  const identical = useIdentical(ask, place === "dock" || place === "phone")
  const { toolName: tool = "", input = {} } = ask
  const suggestions = ask.request["suppress_always_allow_rule"] === true ? [] : suggestionsOf(ask.suggestions)
  const updates = suggestions.flatMap(({ update }, index) => {
    const destination = ticked.get(index)
    return destination === undefined ? [] : [{ ...update, destination }]
  })
  const send = (next: BareAnswer) => answer(next, isForAll ? identical : [])
  const allow = (edited?: Input, stored: readonly unknown[] = updates) =>
    send({
      behavior: "allow",
      ...(edited === undefined ? {} : { updatedInput: edited }),
      ...(stored.length === 0 ? {} : { updatedPermissions: stored }),
    })
  // The button says exactly what it does.
  const count = isForAll && identical.length > 0 ? ` ${identical.length + 1} identical` : ""
  const suffix = `${count}${updates.length === 0 ? "" : ` + ${plural(updates.length, "rule")}`}`
  const request = (
    <BodyBox label="Request" gate={gate}>
      <ToolAskBody tool={tool} input={input} why={ask.why} preview={preview} />
    </BodyBox>
  )
  if (row === "edit")
    return (
      <EditInput {...{ ask, tool, input, canAct, gate, request, takesFocus, suffix, notes, back }} onAllow={allow} />
    )
  const isDenyFirst = ask.request["default_to_no"] === true
  const deny = (
    <ActButton act="deny" isReady={canAct} onPress={() => canAct && open("deny")}>
      {`Deny${count}…`}
    </ActButton>
  )
  return (
    <>
      {request}
      <ActionBar notes={notes} gate={gate} hasRoom={row === "actions"}>
        {identical.length > 0 && (
          <label className="flex min-h-7 items-center gap-2 text-dense coarse:min-h-11">
            <input type="checkbox" checked={isForAll} onChange={() => setForAll(!isForAll)} className="size-4" />
            Apply to {identical.length + 1} identical
          </label>
        )}
        {isChoosing && <Remember suggestions={suggestions} ticked={ticked} onChange={setTicked} />}
        {row === "deny" ? (
          <DenyRow {...{ ask, canAct, takesFocus, back }} label={`Deny${count}`} onDeny={send} />
        ) : (
          <ActionButtons>
            {isDenyFirst && deny}
            <AllowMenu
              // Nothing is remembered of a request that was not read, or that the reader must not allow.
              suggestions={isOffered && barred === undefined && !isChoosing ? suggestions : []}
              onAllow={(stored) => canAct && gate.press(() => allow(undefined, stored))}
              onChoose={() => {
                setChoosing(true)
                // The menu goes, and its focus with it.
                focusCard(ask.id)
              }}
            >
              <ActButton act="primary" isReady={canAct} gate={gate} onPress={() => canAct && allow()}>
                {gate.state === "unread" ? UNREAD : `Allow${suffix === "" ? " once" : suffix}`}
              </ActButton>
            </AllowMenu>
            <ActButton act="edit" isReady={canAct} onPress={() => canAct && open("edit")}>
              Edit
            </ActButton>
            {!isDenyFirst && deny}
          </ActionButtons>
        )}
      </ActionBar>
    </>
  )
}

const NONE: readonly Ask[] = []

/** Other open requests for the very same thing, in whatever session. `isHidden`: they are not offered here. */
function useIdentical(ask: Ask, isHidden: boolean): readonly Ask[] {
  // A request without offers is not drawn again for a change elsewhere in the fleet.
  const fleet = useSelected(useHubStore().fleet, (now) => (isHidden ? undefined : now))
  return useMemo(
    () => (fleet === undefined ? NONE : identicalTo(ask, openAsks(fleet.asks), fleet.sessions)),
    [ask, fleet],
  )
}

interface EditInputProps extends Pick<AskFormProps, "ask" | "canAct" | "notes">, Pick<OpenRow, "back" | "takesFocus"> {
  readonly tool: string
  readonly input: Input
  /** The request must be seen to its end, edited or not. */
  readonly gate: SeenGate
  /** The request itself: what was not seen yet stands above the field. */
  readonly request: ReactNode
  /** The button's name goes on with this: it tells what else the answer does. */
  readonly suffix: string
  /** With the whole input if it was edited: without one the hub allows what was asked. */
  readonly onAllow: (edited?: Input) => void
}

/** The one field that people change, by tool; any other tool's input is changed as JSON. */
const FIELDS: Readonly<Record<string, readonly [name: string, label: string]>> = {
  Bash: ["command", "Edit command"],
  Edit: ["new_string", "Edit new text"],
  Write: ["content", "Edit content"],
}

function read(text: string, field: string | undefined, input: Input): { input: Input } | { error: string } {
  if (field === "command" && text.trim() === "") return { error: "Enter a command, or deny the request." }
  if (field !== undefined) return { input: { ...input, [field]: text } }
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { input: value } : { error: "Must be a JSON object: { … }" }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

function EditInput(props: EditInputProps) {
  const { ask, tool, input, canAct, gate, request, takesFocus, suffix, notes, onAllow, back } = props
  const known = FIELDS[tool]
  const [field, label = "Input (JSON)"] = known !== undefined && typeof input[known[0]] === "string" ? known : []
  const original = field === undefined ? JSON.stringify(input, null, 2) : String(input[field])
  const [text, setText] = useAskDraft(ask, "edit", original)
  // Once there it stays: nothing moves under whoever reads it.
  const [showsRequest, setShowsRequest] = useState(!gate.isOpen)
  if (!gate.isOpen && !showsRequest) setShowsRequest(true)
  const [isLeaving, setLeaving] = useState(false)
  const edited = read(text, field, input)
  const isChanged = text !== original
  const leave = () => (isChanged ? setLeaving(true) : back())
  return (
    <>
      {showsRequest && request}
      <div className="-mx-1 flex min-h-14 flex-col gap-2 overflow-y-auto px-1 py-1">
        <Field label={label} error={"error" in edited ? edited.error : undefined}>
          {(ids) => (
            <textarea
              {...ids}
              autoFocus={takesFocus}
              spellCheck={false}
              rows={Math.min(12, original.split("\n").length + 1)}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={fieldKeys({ Escape: leave })}
              className={`${INPUT} font-mono`}
            />
          )}
        </Field>
        {isChanged && <DiffView hunks={diffTexts(original, text)} header="counts" />}
      </div>
      <ActionBar notes={notes} gate={gate}>
        <ActionButtons>
          <ActButton
            act="primary"
            isReady={canAct && "input" in edited}
            gate={gate}
            showsLetter={false}
            onPress={() => "input" in edited && onAllow(isChanged ? edited.input : undefined)}
          >
            {gate.state === "unread"
              ? UNREAD
              : `${isChanged ? "Allow edited" : suffix === "" ? "Allow once" : "Allow"}${suffix}`}
          </ActButton>
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
          back()
        }}
      />
    </>
  )
}
