import { describe, expect, it } from "vitest"
import { annotationsOf, answersOf, isAnswered, questionsOf, skippedOf } from "../../src/asks/forms/question-answers.ts"
import { outcomeVerb } from "../../src/fleet/ask-words.ts"
import { askOf } from "./ask-fixture.ts"

describe("questions", () => {
  const questions = questionsOf({
    questions: [
      {
        question: "Which?",
        header: "H",
        options: [{ label: "A" }, { label: "B", description: "b" }],
        multiSelect: true,
      },
      { question: "Other?", options: [] },
    ],
  })

  it("are answered by their text, several choices joined in the order they were offered", () => {
    const picks = {
      "Which?": { chosen: ["B", "A"], other: undefined, note: "" },
      "Other?": { chosen: [], other: " mine ", note: "" },
    }
    expect(answersOf(questions, picks)).toEqual({ "Which?": "A, B", "Other?": "mine" })
  })

  it("count as answered with a choice or with words of one's own", () => {
    expect(isAnswered(undefined)).toBe(false)
    expect(isAnswered({ chosen: [], other: " ", note: "" })).toBe(false)
    expect(isAnswered({ chosen: ["A"], other: undefined, note: "" })).toBe(true)
  })

  it("carry a note, and the preview that the choice went by, beside the answers", () => {
    const looks = questionsOf({
      questions: [
        { question: "Which look?", options: [{ label: "A", preview: "[ A ]" }, { label: "B" }] },
        { question: "Sure?" },
      ],
    })
    const pick = { chosen: ["A"], other: undefined, note: " but smaller " }
    expect(annotationsOf(looks, { "Which look?": pick })).toEqual({
      "Which look?": { notes: "but smaller", preview: "[ A ]" },
    })
    expect(annotationsOf(looks, { "Which look?": { ...pick, chosen: ["B"], note: "" } })).toBeUndefined()
  })

  it("say of each question that it was skipped, in words and by a mark", () => {
    const words = "The user chose not to answer this question."
    const told = { answers: { "Sure?": words }, annotations: { "Sure?": { unanswered: "skipped" } } }
    expect(skippedOf(questionsOf({ questions: [{ question: "Sure?" }] }))).toEqual(told)
    const ask = askOf({ kind: "question", state: "allowed", answer: { behavior: "allow", updatedInput: told } })
    expect(outcomeVerb(ask)).toBe("Skipped")
    const noted = { ...told, annotations: { "Sure?": { notes: "well" } } }
    expect(outcomeVerb({ ...ask, answer: { updatedInput: noted } })).toBe("Answered")
    expect(outcomeVerb({ ...ask, kind: "tool" })).toBe("Allowed")
  })
})
