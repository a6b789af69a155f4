import { Button, KeyHint } from "../design/button.tsx"
import { JsonView } from "../transcript/content/json-view.tsx"
import { ActionBar } from "./forms/action-bar.tsx"
import type { AskFormProps } from "./forms/ask-form.ts"

/** A kind of dialog we do not know: what it says, and the one answer that is always right. */
export function DialogAsk({ ask, canAct, answer, notes }: AskFormProps) {
  return (
    <>
      <div tabIndex={0} role="group" aria-label="Request" className="min-h-14 overflow-y-auto rounded-control">
        <JsonView value={ask.request["payload"] ?? ask.request} whole />
      </div>
      <ActionBar notes={notes}>
        <Button
          data-act="deny"
          aria-disabled={!canAct}
          onClick={() => answer({ cancelled: true })}
          className="self-start"
        >
          Cancel the dialog
          <KeyHint>n</KeyHint>
        </Button>
      </ActionBar>
    </>
  )
}
