import { isObject } from "@signalbox/protocol/envelope"

/** The questions of an agent, as far as we can read them, and what was picked. Pure. */
export interface Question {
  readonly question: string
  readonly header: string
  readonly multiSelect: boolean
  readonly options: readonly { readonly label: string; readonly description: string; readonly preview?: string }[]
}

/** By question text: what an index stands for could change, the words cannot. */
export type Picks = Readonly<Record<string, { readonly chosen: readonly string[]; readonly other: string | undefined }>>

function text(value: unknown): string {
  return typeof value === "string" ? value : ""
}

export function questionsOf(input: Readonly<Record<string, unknown>> | undefined): readonly Question[] {
  const list: unknown = input?.["questions"]
  if (!Array.isArray(list)) return []
  return list.filter(isObject).map((question) => ({
    question: text(question["question"]),
    header: text(question["header"]),
    multiSelect: question["multiSelect"] === true,
    options: (Array.isArray(question["options"]) ? question["options"] : []).filter(isObject).map((option) => ({
      label: text(option["label"]),
      description: text(option["description"]),
      ...(typeof option["preview"] === "string" ? { preview: option["preview"] } : {}),
    })),
  }))
}

export function isAnswered(pick: Picks[string] | undefined): boolean {
  if (pick === undefined) return false
  return pick.other === undefined ? pick.chosen.length > 0 : pick.other.trim() !== ""
}

export function answersOf(questions: readonly Question[], picks: Picks): Readonly<Record<string, string>> {
  return Object.fromEntries(
    questions.map(({ question, options }) => {
      const pick = picks[question]
      // In the order in which they were offered, however they were clicked.
      const chosen = options.map(({ label }) => label).filter((label) => pick?.chosen.includes(label) === true)
      const other = pick?.other?.trim() ?? ""
      return [question, [...chosen, ...(other === "" ? [] : [other])].join(", ")]
    }),
  )
}
