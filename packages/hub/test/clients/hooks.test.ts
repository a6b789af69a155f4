import { describe, expect, it } from "vitest"
import {
  blockingOutput,
  isMeant,
  matcherFault,
  mergeHookOutputs,
  readClientHooks,
} from "../../src/clients/client-hooks.ts"

const decided = (permissionDecision: string, more: Record<string, unknown> = {}) => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more },
})

describe("hooks of several clients", () => {
  it.each([
    [undefined, "Bash", true],
    ["", "Bash", true],
    ["*", "Bash", true],
    ["Bash", "Bash", true],
    ["Bash", "BashOutput", false],
    ["Edit|Write", "Write", true],
    ["Edit|Write", "MultiEdit", false],
    ["mcp__.*", "mcp__files__read", true],
    ["mcp__.*", "Bash", false],
    ["^Note", "NotebookEdit", true],
    ["[", "Bash", false],
    ["as.", "Bash", true],
    ["as", "Bash", false],
    ["bash", "Bash", false],
    ["Bash | Write", "Bash", true],
    ["Read, Bash", "Bash", true],
    ["ash$", "Bash", true],
    ["Bash", undefined, true],
  ])("[RC13] the matcher %j and %j: %j", (matcher, subject, meant) => {
    expect(isMeant(matcher, subject)).toBe(meant)
  })

  it("[RC13] a pattern that could take for ever is refused when it is registered", () => {
    expect(matcherFault("(a+)+$")).toContain("repeats a group")
    expect(matcherFault(".*a.*b.*c.*d")).toContain("more than 3")
    expect(matcherFault("x".repeat(501))).toContain("longer")
    expect(matcherFault("^(Edit|Write)$")).toBeUndefined()
    const hooks = { PreToolUse: [{ matcher: "(a*)*", hookCallbackIds: ["hook_0"] }] }
    expect(() => readClientHooks(hooks)).toThrow("the matcher of a PreToolUse hook")
  })

  it("[RC14] deny over ask over allow, with the reason of the one that counts", () => {
    const allow = decided("allow", { permissionDecisionReason: "fine", updatedInput: { a: 1 } })
    const ask = decided("ask", { permissionDecisionReason: "hm" })
    const deny = decided("deny", { permissionDecisionReason: "never" })
    expect(mergeHookOutputs([allow, deny, ask])).toMatchObject(deny)
    expect(mergeHookOutputs([allow, ask])).toMatchObject(ask)
    expect(mergeHookOutputs([{}, allow, {}])).toMatchObject(allow)
    expect(mergeHookOutputs([allow, decided("deny")])).not.toMatchObject({
      hookSpecificOutput: { permissionDecisionReason: "fine" },
    })
    expect(mergeHookOutputs([{ decision: "approve" }, { decision: "block", reason: "no" }])).toEqual({
      decision: "block",
      reason: "no",
    })
    const answer = (behavior: string) => ({ hookSpecificOutput: { hookEventName: "X", decision: { behavior } } })
    expect(mergeHookOutputs([answer("allow"), answer("deny")])).toEqual(answer("deny"))
  })

  it("[RC14] of the rest the first that says something counts, contexts are joined, and one who stops the turn stops it", () => {
    expect(mergeHookOutputs([])).toEqual({})
    expect(mergeHookOutputs([{ systemMessage: "" }, { systemMessage: "one" }, { systemMessage: "two" }])).toEqual({
      systemMessage: "one",
    })
    const context = (text: string) => ({ hookSpecificOutput: { hookEventName: "Stop", additionalContext: text } })
    expect(mergeHookOutputs([context("a"), context("b"), context("c")])).toEqual(context("a\nb\nc"))
    expect(mergeHookOutputs([{ continue: true }, { continue: false, stopReason: "enough" }])).toEqual({
      continue: false,
      stopReason: "enough",
    })
    expect(mergeHookOutputs([{ async: true, decision: "block" }, "rubbish", null])).toEqual({})
  })

  it("[RC15] a hook that blocks when it fails says so as its event understands it, and never makes an agent go on for ever", () => {
    expect(blockingOutput("PreToolUse", "why")).toMatchObject(decided("deny", { permissionDecisionReason: "why" }))
    expect(blockingOutput("PermissionRequest", "why")).toMatchObject({
      hookSpecificOutput: { decision: { behavior: "deny", message: "why" } },
    })
    expect(blockingOutput("UserPromptSubmit", "why")).toEqual({ decision: "block", reason: "why" })
    expect(blockingOutput("Stop", "why")).toEqual({ continue: false, stopReason: "why" })
  })

  it("[RC16] every registered hook has a time-out: the client's own, bounded, or 30 s", () => {
    const hooks = {
      Stop: [
        { hookCallbackIds: ["a"] },
        { hookCallbackIds: ["b"], timeout: 2 },
        { hookCallbackIds: ["c"], timeout: 1e9 },
      ],
    }
    expect(readClientHooks(hooks).map((hook) => hook.timeoutMs)).toEqual([30_000, 2_000, 300_000])
  })
})
