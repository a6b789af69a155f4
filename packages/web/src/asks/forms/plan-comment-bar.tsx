import { type KeyboardEvent, type RefObject, useEffect, useState } from "react"
import { Button, IconButton } from "../../design/button.tsx"
import { INPUT } from "../../design/field.tsx"
import { CloseIcon } from "../../design/icons.tsx"
import { oneLine } from "../../design/visible-characters.ts"
import { focusCard } from "../answer/following-focus.ts"
import { type PlanComment, quoteOf } from "./plan-comments.ts"

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
export function PlanCommentBar({ askId, plan, comments, onChange }: PlanCommentBarProps) {
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
                label={`Remove the comment: ${oneLine(text, 40)}`}
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
        placeholder="What about it?"
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
