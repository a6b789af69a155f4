import { useState } from "react"
import { Button, KeyHint } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Markdown } from "../transcript/markdown.tsx"
import { textIn } from "../transcript/tools/tool-words.ts"
import type { AskFormProps } from "./ask-card.tsx"
import { DenyRow } from "./deny-row.tsx"

/** A plan: begin, begin with edits allowed, or go on planning with what one has to say about it. */
export function PlanAsk({ ask, canAct, answer, isWide }: AskFormProps) {
  const [isDenying, setDenying] = useState(false)
  const input = ask.input ?? {}
  const plan = textIn(input, "plan") ?? ""
  const acceptEdits = { type: "setMode", mode: "acceptEdits", destination: "session" }
  return (
    <>
      <div
        tabIndex={0}
        role="group"
        aria-label="Plan"
        className={classes(
          "min-h-0 overflow-y-auto rounded-control border border-plan/40 bg-plan-soft px-4 py-2",
          isWide ? "min-h-24" : "max-h-[30dvh]",
        )}
      >
        {plan === "" ? "The plan is in a file on its machine." : <Markdown text={plan} live={false} />}
      </div>
      <div data-actions>
        {isDenying ? (
          <DenyRow canAct={canAct} onDeny={answer} onBack={() => setDenying(false)} />
        ) : (
          <div className="flex flex-wrap gap-3">
            <Button
              look="primary"
              data-act="primary"
              aria-disabled={!canAct}
              onClick={() => answer({ behavior: "allow", updatedInput: input })}
            >
              Approve, ask before edits
              <KeyHint>y</KeyHint>
            </Button>
            <Button
              aria-disabled={!canAct}
              onClick={() => answer({ behavior: "allow", updatedInput: input, updatedPermissions: [acceptEdits] })}
            >
              Approve, accept edits
            </Button>
            <Button data-act="deny" aria-disabled={!canAct} onClick={() => canAct && setDenying(true)}>
              Keep planning…
              <KeyHint>n</KeyHint>
            </Button>
          </div>
        )}
      </div>
    </>
  )
}
