import { Button, KeyHint } from "../design/button.tsx"
import { JsonView } from "../transcript/json-view.tsx"
import type { AskFormProps } from "./ask-card.tsx"

/** A kind of dialog we do not know: what it says, and the one answer that is always right. */
export function DialogAsk({ ask, canAct, answer }: AskFormProps) {
  return (
    <>
      <div className="min-h-0 overflow-y-auto">
        <JsonView value={ask.request["payload"] ?? ask.request} whole />
      </div>
      <div data-actions>
        <Button data-act="deny" aria-disabled={!canAct} onClick={() => answer({ cancelled: true })}>
          Cancel the dialog
          <KeyHint>n</KeyHint>
        </Button>
      </div>
    </>
  )
}
