import type { Ask } from "@signalbox/client"
import { type ReactNode, useId, useMemo, useState } from "react"
import { useFleet } from "../../app/hub-context.ts"
import { Button, KeyHint } from "../../design/button.tsx"
import { plural } from "../../design/words.ts"
import { openAsks } from "../../fleet/ask-words.ts"
import { type AskRow, useAskRow } from "../answer/ask-drafts.ts"
import { identicalTo } from "../answer/ask-queue.ts"
import type { BareAnswer } from "../answer/send-answer.ts"
import { EditInput } from "./edit-input.tsx"
import {
  ActionBar,
  ActionButtons,
  type AskFormProps,
  BodyBox,
  DenyRow,
  GateHint,
  PrimaryAction,
  useSeenGate,
} from "./form-parts.tsx"
import { Remember, suggestionsOf } from "./standing-permissions.tsx"
import { ToolAskBody, useEditPreview, useIsSplit } from "./tool-body.tsx"

/** May it use this tool, like this? */
export function ToolAsk({ ask, canAct, answer, place, notes }: AskFormProps) {
  const { row, open, back, takesFocus } = useAskRow(ask)
  const [ticked, setTicked] = useState<ReadonlyMap<number, string>>(new Map())
  const [isForAll, setForAll] = useState(false)
  const preview = useEditPreview(ask)
  const gate = useSeenGate(`${ask.id}:${ask.inputHash}:${preview?.source ?? ""}`)
  const isSplit = useIsSplit(place)
  const hint = useId()
  const identical = useIdentical(ask, place === "dock")
  const { toolName: tool = "", input = {} } = ask
  const suggestions = ask.request["suppress_always_allow_rule"] === true ? [] : suggestionsOf(ask.suggestions)
  const updates = suggestions.flatMap(({ update }, index) => {
    const destination = ticked.get(index)
    return destination === undefined ? [] : [{ ...update, destination }]
  })
  const send = (next: BareAnswer) => answer(next, isForAll ? identical : [])
  const allow = (edited?: Readonly<Record<string, unknown>>) =>
    send({
      behavior: "allow",
      ...(edited === undefined ? {} : { updatedInput: edited }),
      ...(updates.length === 0 ? {} : { updatedPermissions: updates }),
    })
  // The button says exactly what it does.
  const count = isForAll && identical.length > 0 ? ` ${identical.length + 1} identical` : ""
  const suffix = `${count}${updates.length === 0 ? "" : ` + ${plural(updates.length, "rule")}`}`
  const request = (
    <BodyBox label="Request" gate={gate}>
      <ToolAskBody tool={tool} input={input} preview={preview} isSplit={isSplit} />
    </BodyBox>
  )
  if (row === "edit") {
    return (
      <EditInput
        {...{ ask, tool, input, canAct, gate, request, takesFocus, suffix, notes }}
        onAllow={allow}
        onBack={back}
      />
    )
  }
  return (
    <>
      {request}
      <ActionBar notes={notes}>
        <GateHint id={hint} gate={gate} />
        {identical.length > 0 && (
          <ForAll count={identical.length + 1} isTicked={isForAll} onToggle={() => setForAll(!isForAll)} />
        )}
        <Remember suggestions={suggestions} ticked={ticked} onChange={setTicked} />
        {row === "deny" ? (
          <DenyRow {...{ ask, canAct, takesFocus }} label={`Deny${count}`} onDeny={send} onBack={back} />
        ) : (
          <ToolButtons
            canAct={canAct}
            isSeen={gate.isOpen}
            hint={hint}
            allowLabel={`Allow${suffix === "" ? " once" : suffix}`}
            denyLabel={`Deny${count}…`}
            isDenyFirst={ask.request["default_to_no"] === true}
            onAllow={() => allow()}
            onRow={open}
          />
        )}
      </ActionBar>
    </>
  )
}

interface ForAllProps {
  readonly count: number
  readonly isTicked: boolean
  readonly onToggle: () => void
}

function ForAll({ count, isTicked, onToggle }: ForAllProps) {
  return (
    <label className="flex min-h-7 items-center gap-2 text-dense coarse:min-h-11">
      <input type="checkbox" checked={isTicked} onChange={onToggle} className="size-4" />
      Apply to {count} identical
    </label>
  )
}

interface ToolButtonsProps {
  readonly canAct: boolean
  readonly isSeen: boolean
  /** Id of the hint that says why the request cannot be allowed yet. */
  readonly hint: string
  readonly allowLabel: string
  readonly denyLabel: string
  readonly isDenyFirst: boolean
  readonly onAllow: () => void
  readonly onRow: (row: AskRow) => void
}

function ToolButtons(props: ToolButtonsProps) {
  const { canAct, isSeen, hint, allowLabel, denyLabel, isDenyFirst, onAllow, onRow } = props
  const deny: ReactNode = (
    <Button
      data-act="deny"
      aria-disabled={!canAct}
      onClick={() => canAct && onRow("deny")}
      className="order-first tablet:order-none coarse:flex-auto"
    >
      {denyLabel}
      <KeyHint>n</KeyHint>
    </Button>
  )
  return (
    <ActionButtons>
      {isDenyFirst && deny}
      <PrimaryAction
        aria-disabled={!canAct || !isSeen}
        aria-describedby={isSeen ? undefined : hint}
        onClick={() => canAct && isSeen && onAllow()}
      >
        {isSeen ? allowLabel : "Read to the end to allow"}
        <KeyHint>y</KeyHint>
      </PrimaryAction>
      <Button data-act="edit" aria-disabled={!canAct} onClick={() => canAct && onRow("edit")}>
        Edit
        <KeyHint>e</KeyHint>
      </Button>
      {!isDenyFirst && deny}
    </ActionButtons>
  )
}

const NONE: readonly Ask[] = []

/** Other open requests for the very same thing, in whatever session. `isHidden`: they are not offered here. */
function useIdentical(ask: Ask, isHidden: boolean): readonly Ask[] {
  const { asks, sessions } = useFleet()
  return useMemo(() => (isHidden ? NONE : identicalTo(ask, openAsks(asks), sessions)), [ask, isHidden, asks, sessions])
}
