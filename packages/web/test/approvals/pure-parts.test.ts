import type { Ask } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { isArmed, stepArming } from "../../src/approvals/arming.ts"
import { headingOf, summaryOf } from "../../src/approvals/ask-words.ts"
import { contentOf, errorOf, fieldsOf } from "../../src/approvals/elicitation-fields.ts"
import { outcomeSentence } from "../../src/approvals/outcome.ts"
import { suggestionsOf } from "../../src/approvals/permission-words.ts"
import { answersOf, isAnswered, questionsOf } from "../../src/approvals/question-answers.ts"

const askOf = (facts: Partial<Ask>): Ask => ({
  id: "a1",
  sessionId: "s1",
  seq: 1,
  kind: "tool",
  state: "pending",
  requestId: "r1",
  request: {},
  inputHash: "h",
  askedAt: "2031-01-01T12:00:00Z",
  ...facts,
})

describe("arming", () => {
  it("holds for 400 ms after focus or change, and for 600 ms after another card was settled", () => {
    const never = { inertUntil: Number.NEGATIVE_INFINITY }
    expect(isArmed(never, 0)).toBe(true)
    expect(isArmed(stepArming(never, { type: "focused", at: 1000 }), 1399)).toBe(false)
    expect(isArmed(stepArming(never, { type: "focused", at: 1000 }), 1400)).toBe(true)
    expect(isArmed(stepArming(never, { type: "followed", at: 1000 }), 1599)).toBe(false)
  })

  it("is never shortened by what comes later", () => {
    const followed = stepArming({ inertUntil: 0 }, { type: "followed", at: 1000 })
    expect(isArmed(stepArming(followed, { type: "focused", at: 1001 }), 1500)).toBe(false)
  })
})

describe("the words of an ask", () => {
  it("name what would be done", () => {
    expect(headingOf(askOf({ toolName: "Bash" }))).toBe("Run a command")
    expect(headingOf(askOf({ toolName: "Edit", input: { file_path: "/home/me/api/src/auth.ts" } }))).toBe(
      "Edit …/src/auth.ts",
    )
    expect(headingOf(askOf({ toolName: "mcp__files__read", input: {} }))).toBe("Use read of files")
    expect(summaryOf(askOf({ toolName: "Bash", input: { command: "rm -rf\n node_modules" } }))).toBe(
      "$ rm -rf node_modules",
    )
  })

  it("tell each outcome in its own sentence, and say denied only of what somebody denied", () => {
    const context = { me: "me", lostBy: undefined }
    const settledAt = "2031-01-01T12:00:08Z"
    expect(outcomeSentence(askOf({ state: "allowed", via: "person", settledBy: "me", settledAt }), context)).toBe(
      "Allowed by you, 8.0 s after it was asked.",
    )
    expect(
      outcomeSentence(askOf({ state: "denied", via: "person", settledBy: "ops-phone", settledAt }), context),
    ).toMatch(/^ops-phone denied this at \d\d:\d\d\.$/)
    expect(outcomeSentence(askOf({ state: "allowed", via: "policy", rule: "npm-safe", settledAt }), context)).toBe(
      "Allowed by rule npm-safe.",
    )
    expect(
      outcomeSentence(askOf({ state: "denied", settledBy: "ops-phone", settledAt }), { me: "me", lostBy: 2100 }),
    ).toBe("ops-phone answered 2 s before you. Your answer was not used.")
    for (const state of ["expired", "cancelled", "superseded", "orphaned"] as const) {
      expect(outcomeSentence(askOf({ state, settledAt }), context)).not.toMatch(/denied/i)
    }
    expect(outcomeSentence(askOf({ state: "orphaned" }), context)).toBe("The agent ended before this was answered.")
  })

  it("say what a standing permission would allow, and leave out what cannot be read", () => {
    const words = suggestionsOf([
      {
        type: "addRules",
        behavior: "allow",
        rules: [{ toolName: "Bash", ruleContent: "npm ci:*" }],
        destination: "session",
      },
      { type: "addDirectories", directories: ["/tmp/x"], destination: "session" },
      { type: "setMode", mode: "acceptEdits", destination: "session" },
      { type: "somethingNew" },
      "rubbish",
    ])
    expect(words.map(({ words: verb, rule }) => [verb, rule])).toEqual([
      ["Always allow", "Bash(npm ci:*)"],
      ["Trust folder", "/tmp/x"],
      ["Switch mode to accept edits", undefined],
    ])
  })
})

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
    const picks = { "Which?": { chosen: ["B", "A"], other: undefined }, "Other?": { chosen: [], other: " mine " } }
    expect(answersOf(questions, picks)).toEqual({ "Which?": "A, B", "Other?": "mine" })
  })

  it("count as answered with a choice or with words of one's own", () => {
    expect(isAnswered(undefined)).toBe(false)
    expect(isAnswered({ chosen: [], other: " " })).toBe(false)
    expect(isAnswered({ chosen: ["A"], other: undefined })).toBe(true)
  })
})

describe("the form of an MCP server", () => {
  const schema = {
    properties: {
      name: { type: "string", title: "Name", minLength: 2 },
      count: { type: "integer", minimum: 1, maximum: 5, default: 2 },
      on: { type: "boolean", default: true },
      colour: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      tags: { type: "array", items: { type: "string", enum: ["x", "y"] } },
      mail: { type: "string", format: "email" },
      odd: { type: "object" },
    },
    required: ["name", "count"],
  }
  const fields = fieldsOf(schema, ["count", "name"])
  const field = (name: string) => {
    const found = fields.find((one) => one.name === name)
    if (found === undefined) throw new Error(name)
    return found
  }

  it("becomes fields of the right kinds, in the order asked for", () => {
    expect(fields.map(({ name, type }) => `${name}:${type}`)).toEqual([
      "count:number",
      "name:text",
      "on:switch",
      "colour:select",
      "tags:multi-select",
      "mail:email",
      "odd:json",
    ])
  })

  it("says what is wrong with a value", () => {
    expect(errorOf(field("count"), "2.5")).toBe("Write a whole number.")
    expect(errorOf(field("count"), "9")).toBe("At most 5.")
    expect(errorOf(field("name"), "")).toBe("This is needed.")
    expect(errorOf(field("mail"), "")).toBeUndefined()
    expect(errorOf(field("odd"), "{")).toBe("This is no JSON.")
  })

  it("is sent as the server wants it, without what was left empty", () => {
    expect(contentOf(fields, { name: "Jo", count: "3", tags: ["x"] })).toEqual({
      count: 3,
      name: "Jo",
      on: true,
      tags: ["x"],
    })
  })
})
