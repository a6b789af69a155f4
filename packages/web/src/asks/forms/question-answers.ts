import { isObject, textOf } from "@signalbox/protocol/envelope"

/** The questions of an agent, as far as we can read them, and what was picked. Pure. */
export interface Question {
  readonly question: string
  readonly header: string
  readonly multiSelect: boolean
  readonly options: readonly QuestionOption[]
}

interface QuestionOption {
  readonly label: string
  readonly description: string
  readonly preview?: string
}

export interface QuestionPick {
  readonly chosen: readonly string[]
  /** Words of one's own; undefined while that is not chosen. */
  readonly other: string | undefined
  readonly note: string
}

/** By question text: what an index stands for could change, the words cannot. */
export type Picks = Readonly<Record<string, QuestionPick>>

export const NOTHING_PICKED: QuestionPick = { chosen: [], other: undefined, note: "" }

export function questionsOf(input: Readonly<Record<string, unknown>> | undefined): readonly Question[] {
  const list: unknown = input?.["questions"]
  if (!Array.isArray(list)) return []
  return list.filter(isObject).map((question) => ({
    question: textOf(question, "question") ?? "",
    header: textOf(question, "header") ?? "",
    multiSelect: question["multiSelect"] === true,
    options: (Array.isArray(question["options"]) ? question["options"] : []).filter(isObject).map((option) => ({
      label: textOf(option, "label") ?? "",
      description: textOf(option, "description") ?? "",
      ...(typeof option["preview"] === "string" ? { preview: option["preview"] } : {}),
    })),
  }))
}

export function isAnswered(pick: QuestionPick | undefined): boolean {
  if (pick === undefined) return false
  return pick.other === undefined ? pick.chosen.length > 0 : pick.other.trim() !== ""
}

export function answersOf(questions: readonly Question[], picks: Picks): Readonly<Record<string, string>> {
  return Object.fromEntries(
    questions.map((question) => {
      const other = picks[question.question]?.other?.trim() ?? ""
      const chosen = chosenOf(question, picks).map(({ label }) => label)
      return [question.question, [...chosen, ...(other === "" ? [] : [other])].join(", ")]
    }),
  )
}

/** In the order in which they were offered, however they were clicked. */
function chosenOf({ question, options }: Question, picks: Picks): readonly QuestionOption[] {
  return options.filter(({ label }) => picks[question]?.chosen.includes(label) === true)
}

/** Notes, and the previews that somebody went by. Undefined when there is nothing. */
export function annotationsOf(
  questions: readonly Question[],
  picks: Picks,
): Readonly<Record<string, { readonly notes?: string; readonly preview?: string }>> | undefined {
  const entries = questions.flatMap((question) => {
    const notes = picks[question.question]?.note.trim() ?? ""
    const preview = chosenOf(question, picks).find((option) => option.preview !== undefined)?.preview
    const told = { ...(notes === "" ? {} : { notes }), ...(preview === undefined ? {} : { preview }) }
    return Object.keys(told).length === 0 ? [] : [[question.question, told] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The answer to questions that were skipped: the words for the agent to read, and the mark for those who look it up. */
export function skippedOf(questions: readonly Question[]): Readonly<Record<"answers" | "annotations", object>> {
  const each = (value: unknown) => Object.fromEntries(questions.map(({ question }) => [question, value]))
  return { answers: each("The user chose not to answer this question."), annotations: each({ unanswered: "skipped" }) }
}
