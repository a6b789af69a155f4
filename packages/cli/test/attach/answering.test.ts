import type { Ask, AskAnswer } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { beginAnswering, stepAnswering } from "../../src/attach/answering.ts"
import type { Press } from "../../src/attach/press.ts"

function askOf(kind: Ask["kind"], facts: Partial<Ask> = {}): Ask {
  const base = {
    id: "a",
    sessionId: "s",
    seq: 1,
    state: "pending",
    requestId: "r",
    inputHash: "h",
    askedAt: "",
  } as const
  return { ...base, kind, request: {}, ...facts }
}

const tool = askOf("tool", {
  toolName: "Bash",
  input: { command: "ls", timeout: 5 },
  suggestions: [{ type: "addRules" }],
})
const enter: Press = { key: "enter" }

/** What comes of those keys: text is typed, Enter and Escape are named. */
function answer(ask: Ask, keys: readonly (string | Press)[], isSeen = true): AskAnswer | undefined {
  let state = beginAnswering(ask)
  for (const key of keys) {
    const step = stepAnswering(state, typeof key === "string" ? { key: "text", text: key } : key, { ask, isSeen })
    if (step.answer !== undefined) return step.answer
    state = step.state
  }
  return undefined
}

describe("answering an ask at the keyboard", () => {
  it("[AT2] y allows, a allows for good, n denies with or without a reason", () => {
    expect(answer(tool, ["y"])).toEqual({ behavior: "allow" })
    expect(answer(tool, ["a"])).toEqual({ behavior: "allow", updatedPermissions: [{ type: "addRules" }] })
    expect(answer(tool, ["n", enter])).toEqual({ behavior: "deny" })
    expect(answer(tool, ["n", "not now", enter])).toEqual({ behavior: "deny", message: "not now" })
    expect(answer(tool, ["n", { key: "escape" }, "y"])).toEqual({ behavior: "allow" })
  })

  it("[AT2] nothing is allowed before all of it was seen; denying needs no reading", () => {
    expect(answer(tool, ["y", "a"], false)).toBeUndefined()
    expect(answer(tool, ["n", enter], false)).toEqual({ behavior: "deny" })
  })

  it("[AT2] without suggestions, or where the agent wants none kept, there is no always", () => {
    expect(answer({ ...tool, suggestions: [] }, ["a"])).toBeUndefined()
    expect(answer({ ...tool, request: { suppress_always_allow_rule: true } }, ["a"])).toBeUndefined()
  })

  it("[AT10] a stores only the grant it marks, digits tick others one by one, and no mode changes by itself", () => {
    const rule = { type: "addRules", rules: [{ toolName: "Bash", ruleContent: "mv:*" }], behavior: "allow" }
    const folder = { type: "addDirectories", directories: ["/x"], destination: "session" }
    const mode = { type: "setMode", mode: "acceptEdits", destination: "session" }
    const three: Ask = { ...tool, suggestions: [mode, rule, folder, { type: "newer" }, "text"] }
    expect(answer(three, ["a"])).toEqual({ behavior: "allow", updatedPermissions: [rule] })
    expect(answer(three, ["3", "1", "y"])).toEqual({ behavior: "allow", updatedPermissions: [mode, folder] })
    expect(answer(three, ["1", "1", "y"])).toEqual({ behavior: "allow" })
    // Ticks say what is stored: with one set, `a` would mean something else.
    expect(answer(three, ["3", "a"])).toBeUndefined()
    expect(answer(three, ["4", "9", "0", "y"])).toEqual({ behavior: "allow" })
    expect(answer({ ...tool, suggestions: [mode] }, ["a"])).toBeUndefined()
    expect(answer({ ...tool, suggestions: [mode] }, ["1", "y"])).toEqual({
      behavior: "allow",
      updatedPermissions: [mode],
    })
    expect(answer({ ...tool, suggestions: [{ ...rule, type: "replaceRules" }] }, ["a"])).toBeUndefined()
    expect(answer(three, ["1", "y"], false)).toBeUndefined()
  })

  it("[AT2] an edit keeps the rest of the input, and is a yes only after it was looked at", () => {
    const edit = ["e", { key: "ctrl", letter: "u" }, "ls -l", enter] as const
    expect(answer(tool, edit)).toBeUndefined()
    expect(answer(tool, [...edit, "y"])).toEqual({ behavior: "allow", updatedInput: { command: "ls -l", timeout: 5 } })
    const json = askOf("tool", { toolName: "Write", input: { file_path: "a" } })
    expect(answer(json, ["e", "!", enter, "y"])).toBeUndefined()
    expect(answer(json, ["e", { key: "ctrl", letter: "u" }, '{"file_path":"b"}', enter, "y"])).toEqual({
      behavior: "allow",
      updatedInput: { file_path: "b" },
    })
  })

  it("[AT2] questions are answered by number or word, by their whole text", () => {
    const questions = [
      { question: "Which?", options: [{ label: "Red" }, { label: "Blue" }] },
      { question: "Some?", multiSelect: true, options: [{ label: "One" }, { label: "Two" }, { label: "Three" }] },
    ]
    const ask = askOf("question", { input: { questions } })
    const answers = { "Which?": "mauve", "Some?": "One, Three" }
    expect(answer(ask, [enter, "mauve", enter, "1, 3", enter])).toEqual({
      behavior: "allow",
      updatedInput: { questions, answers },
    })
  })

  it("[AT2] a form takes what fits, leaves out what is empty, and can be declined", () => {
    const requested_schema = {
      properties: {
        name: { type: "string" },
        age: { type: "integer", minimum: 1 },
        size: { enum: ["s", "l"] },
        ok: { type: "boolean" },
      },
      required: ["age"],
    }
    const ask = askOf("elicitation", { request: { mcp_server_name: "db", message: "?", requested_schema } })
    const keys = ["y", enter, "0", enter, { key: "ctrl", letter: "u" }, "7", enter, "2", enter, "yes", enter] as const
    expect(answer(ask, keys)).toEqual({ action: "accept", content: { age: 7, size: "l", ok: true } })
    expect(answer(ask, ["n"])).toEqual({ action: "decline" })
    expect(answer(askOf("dialog"), ["y", "n"])).toEqual({ cancelled: true })
  })

  it("[AT2] a plan is approved, approved with edits, or sent back with what to change", () => {
    const plan = askOf("plan", { toolName: "ExitPlanMode", input: { plan: "1. do" } })
    expect(answer(plan, ["y"])).toEqual({ behavior: "allow" })
    expect(answer(plan, ["a"])).toMatchObject({ updatedPermissions: [{ type: "setMode", mode: "acceptEdits" }] })
    expect(answer(plan, ["n", "smaller", enter])).toEqual({ behavior: "deny", message: "smaller" })
  })
})
