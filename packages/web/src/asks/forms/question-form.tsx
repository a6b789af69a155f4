import { useRef, useState } from "react"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { INPUT } from "../../design/field.tsx"
import { VisibleText } from "../../design/visible-text.tsx"
import { useAskDraft } from "../answer/ask-drafts.ts"
import { ActButton, ActionBar, ActionButtons, type AskFormProps } from "./form-parts.tsx"
import {
  annotationsOf,
  answersOf,
  isAnswered,
  NOTHING_PICKED,
  type Picks,
  type Question,
  type QuestionPick,
  questionsOf,
  skippedOf,
} from "./question-answers.ts"

interface QuestionFieldProps {
  readonly name: string
  readonly question: Question
  readonly pick: QuestionPick
  readonly onPick: (pick: QuestionPick) => void
}

/** One question: its choices, words of one's own, a note. */
function QuestionField({ name, question, pick, onPick }: QuestionFieldProps) {
  const { options, multiSelect } = question
  const hasPreviews = options.some(({ preview }) => preview !== undefined)
  const [focused, setFocused] = useState<string | undefined>(pick.chosen[0])
  const type = multiSelect ? "checkbox" : "radio"
  const toggle = (label: string) => {
    setFocused(label)
    if (!multiSelect) return onPick({ ...pick, chosen: [label], other: undefined })
    const chosen = pick.chosen.includes(label) ? pick.chosen.filter((one) => one !== label) : [...pick.chosen, label]
    onPick({ ...pick, chosen })
  }
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 font-medium">
        <QuestionText {...question} />
      </legend>
      <div className={classes("flex flex-col gap-1", hasPreviews && "tablet:grid tablet:grid-cols-2 tablet:gap-4")}>
        <div className="flex min-w-0 flex-col gap-1">
          {options.map((option) => (
            <label
              key={option.label}
              onFocus={() => setFocused(option.label)}
              onPointerEnter={() => setFocused(option.label)}
              className="flex min-h-8 items-start gap-2 rounded-control px-2 py-1 hover:bg-sunken coarse:min-h-11"
            >
              <input
                type={type}
                name={name}
                checked={pick.chosen.includes(option.label)}
                onChange={() => toggle(option.label)}
                className="mt-1 size-4 shrink-0"
              />
              <span className="min-w-0">
                <VisibleText text={option.label} />
                {option.description !== "" && (
                  <VisibleText as="span" className="block text-dense text-text-2" text={option.description} />
                )}
              </span>
            </label>
          ))}
          <OtherAnswer {...{ name, question, pick, onPick }} />
        </div>
        {hasPreviews && <Preview option={options.find(({ label }) => label === focused)} />}
      </div>
      <NoteField {...{ question, pick, onPick }} />
    </fieldset>
  )
}

/** A question behind the word that the agent put above it. */
export function QuestionText({ header, question }: Pick<Question, "header" | "question">) {
  return (
    <>
      {header !== "" && (
        <VisibleText
          as="span"
          className="me-2 rounded-mark bg-plan-soft px-1.5 py-0.5 text-meta text-plan"
          text={header}
        />
      )}
      <VisibleText text={question} />
    </>
  )
}

function OtherAnswer({ name, question, pick, onPick }: QuestionFieldProps) {
  const type = question.multiSelect ? "checkbox" : "radio"
  const isChosen = pick.other !== undefined
  const field = useRef<HTMLInputElement>(null)
  const [isPointed, setPointed] = useState(false)
  const toggle = () =>
    type === "radio"
      ? onPick({ ...pick, chosen: [], other: pick.other ?? "" })
      : onPick({ ...pick, other: isChosen ? undefined : "" })
  return (
    <div className="flex items-center gap-2 px-2 py-1">
      <label className="flex min-h-8 shrink-0 items-center gap-2 coarse:min-h-11">
        <input
          type={type}
          name={name}
          checked={isChosen}
          onChange={toggle}
          // Arrows choose it on their way, and must be able to go on.
          onClick={({ detail }) => {
            setPointed(detail > 0)
            if (detail > 0) field.current?.focus()
          }}
          // Typing means the words.
          onKeyDown={({ key, ctrlKey, metaKey, altKey }) => {
            if (key.length === 1 && key !== " " && !ctrlKey && !metaKey && !altKey) field.current?.focus()
          }}
          className="size-4 shrink-0"
        />
        Other
      </label>
      {pick.other !== undefined && (
        <input
          ref={field}
          // Chosen by pointer it is to be typed into; one that comes back with what was typed takes no focus.
          autoFocus={isPointed}
          aria-label={`Other answer to: ${question.question}`}
          value={pick.other}
          onChange={(event) => onPick({ ...pick, other: event.target.value })}
          className={INPUT}
        />
      )}
    </div>
  )
}

function Preview({ option }: { readonly option: Question["options"][number] | undefined }) {
  return (
    <div
      role="group"
      tabIndex={0}
      aria-label={option === undefined ? "Preview" : `Preview of ${option.label}`}
      className="max-h-64 overflow-auto rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap"
    >
      {option?.preview !== undefined && <VisibleText text={option.preview} />}
      {option?.preview === undefined && <span className="font-sans text-text-3">Point at a choice to preview it.</span>}
    </div>
  )
}

/** A note besides the answer; its field opens only when somebody wants it. */
function NoteField({ question: { question }, pick, onPick }: Omit<QuestionFieldProps, "name">) {
  const [isOpen, setOpen] = useState(pick.note !== "")
  if (!isOpen) {
    return (
      <Button look="quiet" onClick={() => setOpen(true)} className="self-start px-2! text-dense!">
        Add note
      </Button>
    )
  }
  return (
    <input
      // Opened to be typed into it takes the focus; one that comes back with what was typed does not.
      autoFocus={pick.note === ""}
      aria-label={`Note on: ${question}`}
      placeholder="Note (optional)"
      value={pick.note}
      onChange={(event) => onPick({ ...pick, note: event.target.value })}
      className={INPUT}
    />
  )
}

const NO_PICKS: Picks = {}

/** An agent's questions. Nothing is sent before each is answered, and nothing by itself. */
export function QuestionAsk({ ask, canAct, answer, notes }: AskFormProps) {
  const questions = questionsOf(ask.input)
  const [picks, setPicks] = useAskDraft(ask, "picks", NO_PICKS)
  const isComplete = questions.every((question) => isAnswered(picks[question.question]))
  const send = () => {
    if (!isComplete) return
    const annotations = annotationsOf(questions, picks)
    const told = { answers: answersOf(questions, picks), ...(annotations === undefined ? {} : { annotations }) }
    answer({ behavior: "allow", updatedInput: { ...ask.input, ...told } })
  }
  // A CLI that knows of skipping is told so; to any other one it is a denial.
  const skip = () =>
    ask.skippable === true && questions.length > 0
      ? answer({ behavior: "allow", updatedInput: { ...ask.input, ...skippedOf(questions) } })
      : answer({ behavior: "deny", message: "The user chose not to answer these questions." })
  return (
    <>
      <div className="-mx-1 flex min-h-14 flex-col gap-4 overflow-y-auto px-1 py-1 *:max-w-4xl">
        {questions.map((question) => (
          <QuestionField
            key={question.question}
            name={`${ask.id}:${question.question}`}
            question={question}
            pick={picks[question.question] ?? NOTHING_PICKED}
            onPick={(pick) => setPicks({ ...picks, [question.question]: pick })}
          />
        ))}
      </div>
      <ActionBar notes={notes}>
        <ActionButtons>
          <ActButton act="primary" isReady={canAct && isComplete} onPress={send}>
            Send answers
          </ActButton>
          <ActButton act="deny" isReady={canAct} onPress={skip}>
            Skip
          </ActButton>
        </ActionButtons>
      </ActionBar>
    </>
  )
}
