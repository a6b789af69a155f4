import { Button, KeyHint } from "../../design/button.tsx"
import { useAskDraft } from "../answer/ask-drafts.ts"
import { ActionBar, ActionButtons, PrimaryAction } from "./action-bar.tsx"
import type { AskFormProps } from "./ask-form.ts"
import {
  annotationsOf,
  answersOf,
  isAnswered,
  NOTHING_PICKED,
  type Picks,
  questionsOf,
  skippedOf,
} from "./question-answers.ts"
import { QuestionField } from "./question-form.tsx"

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
          <PrimaryAction aria-disabled={!canAct || !isComplete} onClick={send}>
            Send answers
            <KeyHint>y</KeyHint>
          </PrimaryAction>
          <Button data-act="deny" aria-disabled={!canAct} onClick={skip} className="coarse:flex-auto">
            Skip
            <KeyHint>n</KeyHint>
          </Button>
        </ActionButtons>
      </ActionBar>
    </>
  )
}
