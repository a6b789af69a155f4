import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from "react"
import { Button, IconButton, KeyHint } from "../../design/button.tsx"
import { INPUT } from "../../design/field.tsx"
import { CloseIcon } from "../../design/icons.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import { type AskRow, useAskDraft, useAskRow } from "../answer/ask-drafts.ts"
import { focusCard } from "../answer/following-focus.ts"
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
import { feedbackOf, type PlanComment, quoteOf } from "./plan-comments.ts"
import { AllowedPrompts, PlanText, usePlan } from "./plan-text.tsx"

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
    answer({
      behavior: "allow",
      ...(isEdited ? { updatedInput: { ...ask.input, plan } } : {}),
      ...(updates.length === 0 ? {} : { updatedPermissions: updates }),
    })
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
        <AllowedPrompts input={ask.input} />
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
            fieldLabel="What should change? (optional)"
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
  const gated = {
    "aria-disabled": !canAct || !isSeen,
    "aria-describedby": isSeen ? undefined : hint,
  }
  return (
    <ActionButtons>
      <PrimaryAction {...gated} onClick={() => isSeen && onApprove([])}>
        {isSeen ? `${verb}, ask before edits` : "Read to the end to approve"}
        <KeyHint>y</KeyHint>
      </PrimaryAction>
      <Button {...gated} onClick={() => isSeen && onApprove([ACCEPT_EDITS])} className="coarse:flex-auto">
        {verb}, auto-accept edits
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
        aria-label="Edit plan"
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
        Undo edits
      </Button>
    </p>
  )
}

/** What of the plan is selected now, as text; empty for nothing. */
function useSelection(plan: RefObject<HTMLElement | null>): string {
  const [selected, setSelected] = useState("")
  useEffect(() => {
    const onChange = () => {
      const selection = document.getSelection()
      const isInside =
        selection !== null && !selection.isCollapsed && plan.current?.contains(selection.anchorNode ?? null) === true
      // What is typed in the comment's own field does not take the selection away.
      if (isInside || document.activeElement?.matches("[data-plan-comment]") !== true) {
        setSelected(isInside ? quoteOf(selection.toString()) : "")
      }
    }
    document.addEventListener("selectionchange", onChange)
    return () => document.removeEventListener("selectionchange", onChange)
  }, [plan])
  return selected
}

interface PlanCommentBarProps {
  readonly askId: string
  readonly plan: RefObject<HTMLElement | null>
  readonly comments: readonly PlanComment[]
  readonly onChange: (comments: readonly PlanComment[]) => void
}

/** Comments on parts of a plan: select, say, and they go with "Keep planning". */
function PlanCommentBar({ askId, plan, comments, onChange }: PlanCommentBarProps) {
  const selected = useSelection(plan)
  const [quote, setQuote] = useState<string | undefined>(undefined)
  const leave = () => {
    setQuote(undefined)
    focusCard(askId)
  }
  return (
    <>
      {comments.length > 0 && (
        <ul aria-label="Comments" className="flex max-h-32 flex-col gap-1 overflow-y-auto">
          {comments.map(({ quote: about, text }, index) => (
            <li key={`${about}:${index}`} className="flex items-center gap-2 border-s-2 border-plan ps-2 text-dense">
              <span className="min-w-0 flex-1">
                <q className="text-text-3">{oneLine(about, 60)}</q> {text}
              </span>
              <IconButton
                label={`Remove comment: ${oneLine(text, 40)}`}
                onClick={() => onChange(comments.filter((_, at) => at !== index))}
              >
                <CloseIcon size={14} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {quote !== undefined ? (
        <CommentField
          quote={quote}
          onAdd={(text) => {
            onChange([...comments, { quote, text }])
            // Said: what was selected is not offered again.
            document.getSelection()?.removeAllRanges()
            leave()
          }}
          onBack={leave}
        />
      ) : (
        selected !== "" && (
          <Button
            // The press must not take the selection away.
            onPointerDown={(event) => event.preventDefault()}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => setQuote(selected)}
            className="max-w-full self-start"
          >
            <span className="truncate">Comment on “{oneLine(selected, 40)}”</span>
          </Button>
        )
      )}
    </>
  )
}

interface CommentFieldProps {
  readonly quote: string
  readonly onAdd: (text: string) => void
  readonly onBack: () => void
}

function CommentField({ quote, onAdd, onBack }: CommentFieldProps) {
  const [text, setText] = useState("")
  const add = () => text.trim() !== "" && onAdd(text.trim())
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === "Enter") add()
    else if (event.key === "Escape") onBack()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <input
        // It was opened to be typed into.
        autoFocus
        data-plan-comment
        aria-label={`Comment on: ${oneLine(quote, 80)}`}
        placeholder="Comment"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
        className={`${INPUT} flex-1 basis-48`}
      />
      <Button look="primary" aria-disabled={text.trim() === ""} onClick={add}>
        Add comment
      </Button>
      <Button look="quiet" onClick={onBack}>
        Back
      </Button>
    </div>
  )
}
