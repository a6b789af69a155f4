import { useId, useRef } from "react"
import { Button, KeyHint } from "../../design/button.tsx"
import { INPUT } from "../../design/field.tsx"
import { plural } from "../../design/words.ts"
import { useAskDraft } from "../answer/ask-drafts.ts"
import { type AskRow, useAskRow } from "../answer/use-ask-row.ts"
import { ActionBar, ActionButtons, PrimaryAction } from "./action-bar.tsx"
import type { AskFormProps } from "./ask-form.ts"
import { BodyBox } from "./body-box.tsx"
import { DenyRow } from "./form-parts.tsx"
import { GateHint } from "./gate-hint.tsx"
import { PlanCommentBar } from "./plan-comment-bar.tsx"
import { feedbackOf, type PlanComment } from "./plan-comments.ts"
import { PlanText, RequestedApprovals } from "./plan-text.tsx"
import { useSeenGate } from "./seen-gate.ts"
import { usePlan } from "./use-plan.ts"

const ACCEPT_EDITS = { type: "setMode", mode: "acceptEdits", destination: "session" }
const NO_COMMENTS: readonly PlanComment[] = []

/** A plan: begin, begin with edits allowed, or go on planning with what one has to say about it. */
export function PlanAsk({ ask, canAct, answer, notes }: AskFormProps) {
  const { row, open, back, takesFocus } = useAskRow(ask)
  const [comments, setComments] = useAskDraft(ask, "comments", NO_COMMENTS)
  const given = usePlan(ask)
  const [edited, setEdited] = useAskDraft<string | undefined>(ask, "plan", undefined)
  const text = useRef<HTMLDivElement>(null)
  const hint = useId()
  const gate = useSeenGate(`${ask.id}:${ask.inputHash}:${given === undefined ? "" : "plan"}`)
  const plan = edited ?? given
  const isEdited = edited !== undefined && edited !== given
  const approve = (updates: readonly unknown[]) => {
    const updatedInput = isEdited ? { ...ask.input, plan } : (ask.input ?? {})
    answer({ behavior: "allow", updatedInput, ...(updates.length === 0 ? {} : { updatedPermissions: updates }) })
  }
  if (row === "edit")
    return <PlanEditor plan={plan ?? ""} onChange={setEdited} onDone={back} {...{ notes, takesFocus }} />
  return (
    <>
      <BodyBox label="Plan" gate={gate} className="border border-plan/40 bg-plan-soft px-4 py-2">
        {isEdited && <EditedMark onUndo={() => setEdited(undefined)} />}
        <div ref={text}>
          <PlanText plan={plan} />
        </div>
        <RequestedApprovals input={ask.input} />
      </BodyBox>
      <ActionBar notes={notes}>
        <GateHint id={hint} gate={gate} />
        <PlanCommentBar askId={ask.id} plan={text} comments={comments} onChange={setComments} />
        {comments.length > 0 && (
          <p className="text-meta text-text-3">{plural(comments.length, "comment")}: sent with “Keep planning”.</p>
        )}
        {row === "deny" ? (
          <DenyRow
            {...{ ask, canAct, takesFocus }}
            label="Keep planning"
            look="primary"
            fieldLabel="What should be different? (optional)"
            prefix={feedbackOf(comments)}
            onDeny={answer}
            onBack={back}
          />
        ) : (
          <PlanButtons
            canAct={canAct}
            isSeen={gate.isOpen}
            hint={hint}
            verb={isEdited ? "Approve edited" : "Approve"}
            canEdit={plan !== undefined}
            onApprove={approve}
            onRow={open}
          />
        )}
      </ActionBar>
    </>
  )
}

interface PlanButtonsProps {
  readonly canAct: boolean
  readonly isSeen: boolean
  /** Id of the hint that says why the plan cannot be approved yet. */
  readonly hint: string
  readonly verb: string
  readonly canEdit: boolean
  readonly onApprove: (updates: readonly unknown[]) => void
  readonly onRow: (row: AskRow) => void
}

function PlanButtons({ canAct, isSeen, hint, verb, canEdit, onApprove, onRow }: PlanButtonsProps) {
  const approval = {
    "aria-disabled": !canAct || !isSeen,
    "aria-describedby": isSeen ? undefined : hint,
  }
  return (
    <ActionButtons>
      <PrimaryAction {...approval} onClick={() => isSeen && onApprove([])}>
        {isSeen ? `${verb}, ask before edits` : "Review to approve"}
        <KeyHint>y</KeyHint>
      </PrimaryAction>
      <Button {...approval} onClick={() => isSeen && onApprove([ACCEPT_EDITS])} className="coarse:flex-auto">
        {verb}, accept edits
      </Button>
      {canEdit && (
        <Button data-act="edit" aria-disabled={!canAct} onClick={() => canAct && onRow("edit")}>
          Edit
          <KeyHint>e</KeyHint>
        </Button>
      )}
      <Button
        data-act="deny"
        aria-disabled={!canAct}
        onClick={() => canAct && onRow("deny")}
        className="order-first tablet:order-none coarse:flex-auto"
      >
        Keep planning…
        <KeyHint>n</KeyHint>
      </Button>
    </ActionButtons>
  )
}

interface PlanEditorProps extends Pick<AskFormProps, "notes"> {
  readonly plan: string
  readonly takesFocus: boolean
  readonly onChange: (plan: string) => void
  readonly onDone: () => void
}

function PlanEditor({ plan, takesFocus, onChange, onDone, notes }: PlanEditorProps) {
  return (
    <>
      <textarea
        autoFocus={takesFocus}
        aria-label="Edit the plan"
        value={plan}
        rows={14}
        onChange={(event) => onChange(event.target.value)}
        className={`${INPUT} min-h-24! shrink font-mono`}
      />
      <ActionBar notes={notes}>
        <Button look="primary" onClick={onDone} className="self-start">
          Done editing
        </Button>
      </ActionBar>
    </>
  )
}

/** What is approved is not what the agent wrote. */
function EditedMark({ onUndo }: { readonly onUndo: () => void }) {
  return (
    <p className="flex items-center gap-2 text-dense">
      <span className="rounded-[4px] bg-plan px-1.5 font-medium text-surface">Edited</span>
      <Button look="quiet" onClick={onUndo}>
        Undo my edits
      </Button>
    </p>
  )
}
