import {
  AskUserQuestionAnswer,
  AskUserQuestionInput,
  ElicitationReply,
  ExitPlanModeInput,
  PERMISSION_MODES,
  type PermissionMode,
  PermissionResult,
  PermissionUpdate,
  UserDialogReply,
  WrittenPermissionResult,
} from "@signalbox/protocol/schemas"
import { describe, expect, expectTypeOf, test } from "vitest"

describe("permission modes", () => {
  test("lost delegate and gained auto", () => {
    expect(PERMISSION_MODES["2.1.37"]).toContain("delegate")
    expect(PERMISSION_MODES["2.1.37"]).not.toContain("auto")
    expect(PERMISSION_MODES["2.1.325"]).toContain("auto")
    expect(PERMISSION_MODES["2.1.325"]).not.toContain("delegate")
    expect(PERMISSION_MODES["2.0.77"]).toEqual(PERMISSION_MODES["2.1.37"])
  })

  test("are open: a word of tomorrow is a mode too", () => {
    expectTypeOf<"plan">().toExtend<PermissionMode>()
    expectTypeOf<"zen">().toExtend<PermissionMode>()
  })
})

describe("a permission update", () => {
  const rules = { rules: [{ toolName: "Bash", ruleContent: "rm *" }], behavior: "allow", destination: "session" }
  const directories = { directories: ["/tmp"], destination: "localSettings" }

  test.each([
    { type: "addRules", ...rules },
    { type: "replaceRules", ...rules },
    { type: "removeRules", ...rules },
    { type: "setMode", mode: "acceptEdits", destination: "session" },
    { type: "addDirectories", ...directories },
    { type: "removeDirectories", ...directories },
    { type: "addPlanets", planets: ["Mars"] },
  ])("of type $type validates and keeps what nobody knows", (update) => {
    expect(PermissionUpdate.parse({ ...update, extra: 1 })).toEqual({ ...update, extra: 1 })
  })

  test("is no word, as one document has it", () => {
    expect(PermissionUpdate.safeParse("deny").success).toBe(false)
    expect(PermissionUpdate.safeParse({ type: "addRules", destination: "session" }).success).toBe(false)
  })
})

describe("a permission result", () => {
  test("may be read without updatedInput, but not written", () => {
    expect(PermissionResult.safeParse({ behavior: "allow" }).success).toBe(true)
    expect(WrittenPermissionResult.safeParse({ behavior: "allow" }).success).toBe(false)
    expect(WrittenPermissionResult.safeParse({ behavior: "allow", updatedInput: {} }).success).toBe(true)
    expectTypeOf<Extract<WrittenPermissionResult, { behavior: "allow" }>["updatedInput"]>().toEqualTypeOf<
      Record<string, unknown>
    >()
  })

  test("is written without fields that no version knows", () => {
    const misspelt = { behavior: "allow", updatedInput: {}, updated_permissions: [] }
    expect(PermissionResult.safeParse(misspelt).success).toBe(true)
    expect(WrittenPermissionResult.safeParse(misspelt).success).toBe(false)
  })

  test("that denies says why", () => {
    expect(PermissionResult.safeParse({ behavior: "deny" }).success).toBe(false)
    expect(PermissionResult.safeParse({ behavior: "deny", message: "no", interrupt: true }).success).toBe(true)
  })

  test("never asks", () => {
    expect(PermissionResult.safeParse({ behavior: "ask", message: "?" }).success).toBe(false)
  })
})

describe("questions to a person", () => {
  const input = {
    questions: [
      {
        question: "Which colour?",
        header: "Colour",
        options: [{ label: "Red", description: "Like a fox" }, { label: "Blue" }],
        multiSelect: true,
      },
    ],
  }

  test("are answered by the same input with answers keyed by the question's text", () => {
    expect(AskUserQuestionInput.parse(input)).toEqual(input)
    expect(AskUserQuestionAnswer.safeParse(input).success).toBe(false)
    const answer = AskUserQuestionAnswer.parse({ ...input, answers: { "Which colour?": "Red, Blue" } })
    expectTypeOf(answer.answers).toEqualTypeOf<Record<string, string>>()
    expect(AskUserQuestionAnswer.safeParse({ ...input, answers: { "Which colour?": ["Red"] } }).success).toBe(false)
  })

  test("about a plan may come without a plan", () => {
    expect(ExitPlanModeInput.safeParse({}).success).toBe(true)
    expect(ExitPlanModeInput.safeParse({ plan: "1. Do it", planFilePath: "/p.md" }).success).toBe(true)
  })

  test("from an MCP server are accepted, declined or cancelled", () => {
    expect(ElicitationReply.safeParse({ action: "accept", content: { name: "x" } }).success).toBe(true)
    expect(ElicitationReply.safeParse({ action: "maybe" }).success).toBe(false)
  })

  test("in a dialog are completed, with or without a result, or cancelled", () => {
    expect(UserDialogReply.safeParse({ behavior: "completed", result: { a: 1 } }).success).toBe(true)
    expect(UserDialogReply.safeParse({ behavior: "completed" }).success).toBe(true)
    expect(UserDialogReply.safeParse({ behavior: "cancelled" }).success).toBe(true)
    expect(UserDialogReply.safeParse({ behavior: "allow" }).success).toBe(false)
  })
})
