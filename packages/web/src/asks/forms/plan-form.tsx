import type { Ask } from "@signalbox/client"
import { PLAN_EVENTS, planInCall } from "@signalbox/transcript"
import { type RefObject, useContext, useEffect, useRef, useState } from "react"
import { useCanOperate, useHub } from "../../app/hub-context.ts"
import { whileOpen } from "../../app/value-store.ts"
import { Button, IconButton } from "../../design/button.tsx"
import { fieldKeys, INPUT } from "../../design/field.tsx"
import { CloseIcon } from "../../design/icons.tsx"
import { oneLine, VisibleText } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import { Markdown } from "../../transcript/content/markdown.tsx"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { useAskDraft, useAskRow } from "../answer/ask-drafts.ts"
import { focusCard } from "../answer/following-focus.ts"
import { ActButton, ActionBar, ActionButtons, AllowBarred, type AskFormProps, DenyRow } from "./form-parts.tsx"
import { leftOut } from "./left-out.tsx"
import { allowedPromptsOf, feedbackOf, type PlanComment, quoteOf } from "./plan-comments.ts"
import { BodyBox, RequestEnd, useSeenGate } from "./seen-gate.tsx"

const ACCEPT_EDITS = { type: "setMode", mode: "acceptEdits", destination: "session" }
const NO_COMMENTS: readonly PlanComment[] = []

/** A plan: begin, begin with edits allowed, or go on planning with what one has to say about it. */
export function PlanAsk({ ask, canAct, answer, notes }: AskFormProps) {
  const { row, open, back, takesFocus } = useAskRow(ask)
  const [comments, setComments] = useAskDraft(ask, "comments", NO_COMMENTS)
  const given = usePlan(ask)
  const [edited, setEdited] = useAskDraft<string | undefined>(ask, "plan", undefined)
  const text = useRef<HTMLDivElement>(null)
  const gate = useSeenGate(`${ask.id}:${ask.inputHash}:${given === undefined ? "" : "plan"}`)
  const barred = useContext(AllowBarred)
  const plan = edited ?? given
  const isEdited = edited !== undefined && edited !== given
  const verb = isEdited ? "Approve edited" : "Approve"
  const approve = (updates: readonly unknown[]) =>
    answer({
      behavior: "allow",
      ...(isEdited ? { updatedInput: { ...ask.input, plan } } : {}),
      ...(updates.length === 0 ? {} : { updatedPermissions: updates }),
    })
  if (row === "edit")
    return (
      <>
        <textarea
          autoFocus={takesFocus}
          aria-label="Edit plan"
          value={plan ?? ""}
          rows={14}
          onChange={(event) => setEdited(event.target.value)}
          className={`${INPUT} min-h-24! shrink font-mono`}
        />
        <ActionBar notes={notes}>
          <Button look="primary" onClick={back} className="self-start">
            Done editing
          </Button>
        </ActionBar>
      </>
    )
  return (
    <>
      <BodyBox label="Plan" gate={gate} className="border border-plan/40 bg-plan-soft px-4 py-2">
        {isEdited && (
          <p className="flex items-center gap-2 text-dense">
            <span className="rounded-mark bg-plan px-1.5 font-medium text-surface">Edited</span>
            <Button look="quiet" onClick={() => setEdited(undefined)}>
              Undo edits
            </Button>
          </p>
        )}
        <div ref={text}>
          <PlanText plan={plan} />
        </div>
        <AllowedPrompts input={ask.input} />
        <RequestEnd />
      </BodyBox>
      <ActionBar notes={notes} gate={gate}>
        <PlanCommentBar askId={ask.id} plan={text} comments={comments} onChange={setComments} />
        {comments.length > 0 && (
          <p className="text-meta text-text-3">{plural(comments.length, "comment")}: sent with “Keep planning”.</p>
        )}
        {row === "deny" ? (
          <DenyRow
            {...{ ask, canAct, takesFocus, back }}
            label="Keep planning"
            look="primary"
            fieldLabel="What should change? (optional)"
            prefix={feedbackOf(comments)}
            onDeny={answer}
          />
        ) : (
          <ActionButtons>
            <ActButton act="primary" isReady={canAct} gate={gate} onPress={() => approve([])}>
              {gate.state === "unread" ? "Read to the end to approve" : `${verb}, ask before edits`}
            </ActButton>
            <Button
              aria-disabled={!canAct || !gate.isOpen || barred !== undefined}
              aria-describedby={barred ?? (gate.state === "unread" ? gate.hintId : undefined)}
              onClick={() => gate.isOpen && barred === undefined && approve([ACCEPT_EDITS])}
              className="coarse:flex-auto"
            >
              {verb}, auto-accept edits
            </Button>
            {plan !== undefined && (
              <ActButton act="edit" isReady={canAct} onPress={() => canAct && open("edit")}>
                Edit
              </ActButton>
            )}
            <ActButton act="deny" isReady={canAct} onPress={() => canAct && open("deny")}>
              Keep planning…
            </ActButton>
          </ActionButtons>
        )}
      </ActionBar>
    </>
  )
}

export function PlanText({ plan }: { readonly plan: string | undefined }) {
  if (plan === undefined) return <p>The plan is in a file on the machine.</p>
  return <Markdown text={plan} live={false} leftOut={leftOut} />
}

/** Actions that would be allowed along with the plan. */
export function AllowedPrompts({ input }: { readonly input: Readonly<Record<string, unknown>> | undefined }) {
  const prompts = allowedPromptsOf(input)
  if (prompts.length === 0) return null
  return (
    <div className="text-dense">
      <p className="font-medium">Also allowed without asking:</p>
      <ul className="list-disc ps-5">
        {prompts.map((prompt) => (
          <VisibleText as="li" key={prompt} text={prompt} />
        ))}
      </ul>
    </div>
  )
}

const TIMEOUT_MS = 10_000

/** The plan of a request: in its input, else in the call it is about, else asked of its agent; undefined where none has it. */
export function usePlan({ sessionId, state, input, request, seq }: Ask): string | undefined {
  const hub = useHub()
  const canOperate = useCanOperate()
  const given = textIn(input, "plan")
  const toolUseId = textIn(request, "tool_use_id")
  const [found, setFound] = useState<string | undefined>(undefined)
  const isMissing = given === undefined
  const mayAsk = state === "pending" && canOperate
  useEffect(() => {
    if (!isMissing) return undefined
    const session = hub.session(sessionId)
    const look = async () => {
      const page = await session.events({ before: seq, limit: PLAN_EVENTS })
      const called = planInCall(page.events, toolUseId)
      if (called !== undefined || !mayAsk) return called
      // Only the newest CLI knows it; from another one the reader is told where the plan is.
      return textIn(await session.control({ subtype: "get_plan" }, { timeoutMs: TIMEOUT_MS }), "content")
    }
    return whileOpen(look(), setFound)
  }, [hub, sessionId, seq, toolUseId, isMissing, mayAsk])
  return given ?? found
}

/** The selected part of the plan, as text, empty for nothing; and how to drop the selection. */
function useSelection(plan: RefObject<HTMLElement | null>): readonly [string, () => void] {
  const [selected, setSelected] = useState("")
  useEffect(() => {
    const onChange = () => {
      const selection = document.getSelection()
      const isInside =
        selection !== null && !selection.isCollapsed && plan.current?.contains(selection.anchorNode ?? null) === true
      // Typing in the comment's own field does not take the selection away.
      if (isInside || document.activeElement?.matches("[data-plan-comment]") !== true) {
        setSelected(isInside ? quoteOf(selection.toString()) : "")
      }
    }
    document.addEventListener("selectionchange", onChange)
    return () => document.removeEventListener("selectionchange", onChange)
  }, [plan])
  const drop = () => {
    document.getSelection()?.removeAllRanges()
    // The browser tells of it only later.
    setSelected("")
  }
  return [selected, drop]
}

interface PlanCommentBarProps {
  readonly askId: string
  readonly plan: RefObject<HTMLElement | null>
  readonly comments: readonly PlanComment[]
  readonly onChange: (comments: readonly PlanComment[]) => void
}

/** Comments on parts of a plan: select, say, and they go with "Keep planning". */
function PlanCommentBar({ askId, plan, comments, onChange }: PlanCommentBarProps) {
  const [selected, dropSelection] = useSelection(plan)
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
            dropSelection()
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

type CommentFieldProps = { readonly quote: string; readonly onAdd: (text: string) => void; readonly onBack: () => void }

function CommentField({ quote, onAdd, onBack }: CommentFieldProps) {
  const [text, setText] = useState("")
  const add = () => text.trim() !== "" && onAdd(text.trim())
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
        onKeyDown={fieldKeys({ Enter: add, Escape: onBack })}
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
