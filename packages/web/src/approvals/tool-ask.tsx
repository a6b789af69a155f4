import { useId, useRef, useState } from "react"
import { Button, KeyHint } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { ToolAskBody } from "./ask-body.tsx"
import type { AskFormProps } from "./ask-card.tsx"
import { DenyRow } from "./deny-row.tsx"
import { EditInput } from "./edit-input.tsx"
import { suggestionsOf } from "./permission-words.ts"
import { Remember } from "./remember.tsx"
import { useSeenGate } from "./seen-gate.ts"

type Row = "actions" | "deny" | "edit"

export function ToolAsk({ ask, canAct, answer, isWide }: AskFormProps) {
  const [row, setRow] = useState<Row>("actions")
  const [ticked, setTicked] = useState<ReadonlyMap<number, string>>(new Map())
  const box = useRef<HTMLDivElement>(null)
  const end = useRef<HTMLDivElement>(null)
  const hint = useId()
  const gate = useSeenGate(box, end, `${ask.id}:${ask.inputHash}`)
  const input = ask.input ?? {}
  const suggestions = ask.request["suppress_always_allow_rule"] === true ? [] : suggestionsOf(ask.suggestions)
  const denyFirst = ask.request["default_to_no"] === true
  const updates = suggestions.flatMap(({ update }, index) => {
    const destination = ticked.get(index)
    return destination === undefined ? [] : [{ ...update, destination }]
  })
  const allow = (updatedInput: Readonly<Record<string, unknown>>) =>
    answer({ behavior: "allow", updatedInput, ...(updates.length === 0 ? {} : { updatedPermissions: updates }) })
  if (row === "edit") {
    return (
      <EditInput
        tool={ask.toolName ?? ""}
        input={input}
        canAct={canAct}
        onAllow={allow}
        onBack={() => setRow("actions")}
      />
    )
  }
  const rules = updates.length === 0 ? "" : ` + ${updates.length} rule${updates.length === 1 ? "" : "s"}`
  const primary = (
    <Button
      look="primary"
      data-act="primary"
      aria-disabled={!canAct || !gate.isOpen}
      aria-describedby={gate.isOpen ? undefined : hint}
      onClick={() => canAct && gate.isOpen && allow(input)}
      className="order-last coarse:flex-1 tablet:order-none"
    >
      {gate.isOpen ? `Allow${rules === "" ? " once" : rules}` : "Review to allow"}
      <KeyHint>y</KeyHint>
    </Button>
  )
  const deny = (
    <Button data-act="deny" aria-disabled={!canAct} onClick={() => canAct && setRow("deny")} className="coarse:flex-1">
      Deny…
      <KeyHint>n</KeyHint>
    </Button>
  )
  return (
    <>
      <div
        ref={box}
        // What scrolls must be reachable without a pointer.
        tabIndex={0}
        role="group"
        aria-label="Request"
        className={classes(
          "flex flex-col gap-2 overflow-y-auto rounded-control",
          gate.isShowingAll ? "shrink-0" : isWide ? "min-h-24" : "max-h-[30dvh]",
        )}
      >
        <ToolAskBody tool={ask.toolName ?? ""} input={input} />
        <div ref={end} className="h-px shrink-0" />
      </div>
      {!gate.isOpen && (
        <p id={hint} data-actions className="flex items-center gap-2 text-dense text-caution">
          Scroll to the end or show all.
          <Button look="quiet" onClick={gate.showAll}>
            Show all
          </Button>
        </p>
      )}
      <div data-actions className="flex flex-col gap-2">
        <Remember suggestions={suggestions} ticked={ticked} onChange={setTicked} />
        {row === "deny" ? (
          <DenyRow canAct={canAct} onDeny={answer} onBack={() => setRow("actions")} />
        ) : (
          <div className="flex flex-wrap gap-3">
            {denyFirst && deny}
            {primary}
            <Button data-act="edit" aria-disabled={!canAct} onClick={() => canAct && setRow("edit")}>
              Edit
              <KeyHint>e</KeyHint>
            </Button>
            {!denyFirst && deny}
          </div>
        )}
      </div>
    </>
  )
}
