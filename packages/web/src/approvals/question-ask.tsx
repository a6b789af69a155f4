import { useState } from "react"
import { createValueStore, useValue } from "../app/value-store.ts"
import { Button, KeyHint } from "../design/button.tsx"
import { INPUT } from "../design/field.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import type { AskFormProps } from "./ask-card.tsx"
import { answersOf, isAnswered, type Picks, type Question, questionsOf } from "./question-answers.ts"

/** Half-filled forms, by ask: they survive going elsewhere and coming back. */
const drafts = createValueStore<ReadonlyMap<string, Picks>>(new Map())
const MAX_DRAFTS = 50

function keepDraft(id: string, picks: Picks): void {
  drafts.set(new Map([...drafts.get(), [id, picks] as const].slice(-MAX_DRAFTS)))
}

export function QuestionAsk({ ask, canAct, answer }: AskFormProps) {
  const questions = questionsOf(ask.input)
  const picks = useValue(drafts).get(ask.id) ?? {}
  const isComplete = questions.every((question) => isAnswered(picks[question.question]))
  return (
    <div className="flex min-h-0 flex-col gap-3 overflow-y-auto">
      {questions.map((question) => (
        <QuestionField
          key={question.question}
          name={`${ask.id}:${question.question}`}
          question={question}
          pick={picks[question.question] ?? { chosen: [], other: undefined }}
          onPick={(pick) => keepDraft(ask.id, { ...picks, [question.question]: pick })}
        />
      ))}
      <div data-actions className="flex flex-wrap gap-3">
        <Button
          look="primary"
          data-act="primary"
          aria-disabled={!canAct || !isComplete}
          onClick={() =>
            isComplete &&
            answer({ behavior: "allow", updatedInput: { ...ask.input, answers: answersOf(questions, picks) } })
          }
        >
          Send answers
          <KeyHint>y</KeyHint>
        </Button>
        <Button
          data-act="deny"
          aria-disabled={!canAct}
          onClick={() => answer({ behavior: "deny", message: "The user chose not to answer these questions." })}
        >
          Skip
          <KeyHint>n</KeyHint>
        </Button>
      </div>
    </div>
  )
}

interface QuestionFieldProps {
  readonly name: string
  readonly question: Question
  readonly pick: Picks[string]
  readonly onPick: (pick: Picks[string]) => void
}

function QuestionField({ name, question, pick, onPick }: QuestionFieldProps) {
  const { options, multiSelect, header } = question
  const [preview, setPreview] = useState<string | undefined>(undefined)
  const toggle = (label: string) => {
    if (!multiSelect) return onPick({ chosen: [label], other: undefined })
    const chosen = pick.chosen.includes(label) ? pick.chosen.filter((one) => one !== label) : [...pick.chosen, label]
    onPick({ ...pick, chosen })
  }
  const type = multiSelect ? "checkbox" : "radio"
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 font-medium">
        {header !== "" && (
          <span className="me-2 rounded-[4px] bg-plan-soft px-1.5 py-0.5 text-meta text-plan">{header}</span>
        )}
        <VisibleText text={question.question} />
      </legend>
      {options.map((option) => (
        <label
          key={option.label}
          className="flex min-h-8 items-start gap-2 rounded-control px-2 py-1 hover:bg-sunken coarse:min-h-11"
          onFocus={() => setPreview(option.preview)}
        >
          <input
            type={type}
            name={name}
            checked={pick.chosen.includes(option.label)}
            onChange={() => toggle(option.label)}
            className="mt-1 size-4 shrink-0"
          />
          <span>
            <VisibleText text={option.label} />
            {option.description !== "" && (
              <span className="block text-dense text-text-2">
                <VisibleText text={option.description} />
              </span>
            )}
          </span>
        </label>
      ))}
      <label className="flex min-h-8 items-center gap-2 rounded-control px-2 py-1 coarse:min-h-11">
        <input
          type={type}
          name={name}
          checked={pick.other !== undefined}
          onChange={() =>
            onPick({
              chosen: multiSelect ? pick.chosen : [],
              other: pick.other === undefined ? "" : multiSelect ? undefined : pick.other,
            })
          }
          className="size-4 shrink-0"
        />
        <span>Other</span>
        {pick.other !== undefined && (
          <input
            aria-label={`Other answer to: ${question.question}`}
            value={pick.other}
            onChange={(event) => onPick({ ...pick, other: event.target.value })}
            className={INPUT}
          />
        )}
      </label>
      {preview !== undefined && (
        <div className="rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap">
          <VisibleText text={preview} />
        </div>
      )}
    </fieldset>
  )
}
