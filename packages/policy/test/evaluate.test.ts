import { evaluate, policyRequestOf } from "@signalbox/policy"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { allowing, CONTEXT, type Draft, denying, numbered, verdict } from "./subject.ts"

describe("the verdict", () => {
  it("[PO1] deny beats ask beats allow, whatever the order", () => {
    const rules: Draft[] = [
      { id: "a", effect: "allow", tool: "Bash" },
      { id: "q", effect: "ask", tool: "Bash" },
      { id: "d", effect: "deny", tool: "Bash" },
      { id: "other", effect: "deny", tool: "Write" },
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(rules), (some) => {
        const has = (id: string) => some.some((rule) => rule.id === id)
        const expected = has("d") ? "d" : has("q") ? "q" : has("a") ? "a" : undefined
        const found = verdict(some, "Bash", { command: "ls" })
        expect(found.rule).toBe(expected)
        expect(found.effect).toBe(expected === "d" ? "deny" : expected === "a" ? "allow" : "ask")
      }),
    )
  })

  it("[PO1] a deny wins under any order of many rules with patterns", () => {
    const some: Draft[] = [allowing("*"), allowing("npm *"), denying("npm publish*"), { effect: "allow" }]
    fc.assert(
      fc.property(
        fc.shuffledSubarray(some, { minLength: some.length }),
        (rules) => verdict(rules, "Bash", { command: "npm publish --tag x" }).effect === "deny",
      ),
    )
  })

  it("[PO1] no rule means ask; among equals the first is named", () => {
    expect(verdict([], "Bash", { command: "ls" })).toEqual({
      effect: "ask",
      reason: "No rule covers this.",
      why: { rules: [], change: "To allow it, add a rule that allows it." },
    })
    expect(verdict([{ effect: "deny" }, { effect: "deny" }], "Bash", {}).rule).toBe("r1")
  })

  it("[PO2] all parts of a rule must fit", () => {
    const rule: Draft = {
      effect: "allow",
      tool: "Edit",
      input: { file_path: "/srv/**", replace_all: "true" },
      cwd: "/srv/*",
      session: "s1",
      mode: "default",
    }
    const input = { file_path: "/srv/a.ts", replace_all: true }
    expect(verdict([rule], "Edit", input).effect).toBe("allow")
    expect(verdict([rule], "Write", input).effect).toBe("ask")
    expect(verdict([rule], "Edit", { file_path: "/srv/a.ts" }).effect).toBe("ask")
    expect(verdict([{ ...rule, cwd: "/other/*" }], "Edit", input).effect).toBe("ask")
    expect(verdict([{ ...rule, session: "s2" }], "Edit", input).effect).toBe("ask")
    expect(verdict([{ ...rule, mode: "plan" }], "Edit", input).effect).toBe("ask")
  })

  it("[PO3] a tool is named exactly, or all tools of an MCP server are", () => {
    const rule: Draft = { effect: "allow", tool: "mcp__git__*" }
    expect(verdict([rule], "mcp__git__log", {}).effect).toBe("allow")
    expect(verdict([rule], "mcp__github__log", {}).effect).toBe("ask")
    expect(verdict([rule], "mcp__git__evil__log", {}).effect).toBe("ask")
    expect(verdict([{ ...rule, effect: "deny" }], "mcp__git__evil__log", {}).effect).toBe("deny")
    expect(verdict([{ effect: "allow", tool: "bash" }], "Bash", {}).effect).toBe("ask")
  })

  it.each(["AskUserQuestion", "ExitPlanMode", "elicitation", "dialog"])(
    "[PO4] %s is answered by no rule that does not name it",
    (tool) => {
      const found = verdict([{ effect: "allow" }], tool, {})
      expect(found.effect).toBe("ask")
      expect(found.reason).toBe("This question is for a person, and no rule that names it answers it.")
      expect(verdict([{ effect: "allow", tool }], tool, {}).effect).toBe("allow")
      expect(verdict([{ effect: "deny" }], tool, {}).effect).toBe("deny")
    },
  )

  it("[PO4] nor is a tool of which the agent says that a person must see it", () => {
    const request = { tool: "mcp__x__y", input: {}, needsPerson: true }
    const allow = (tool: string) => ({ rules: numbered([{ effect: "allow", tool }]), relayAutoApproval: false })
    expect(evaluate(allow("mcp__x__*"), request, CONTEXT).effect).toBe("ask")
    expect(evaluate(allow("mcp__x__y"), request, CONTEXT).effect).toBe("allow")
  })

  it("[PO4] the agent's control requests are read", () => {
    const asked = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t" }
    expect(policyRequestOf(asked)).toEqual({ tool: "Bash", input: { command: "ls" }, needsPerson: false })
    expect(policyRequestOf({ ...asked, requires_user_interaction: true })?.needsPerson).toBe(true)
    expect(policyRequestOf({ ...asked, server_policy_ask_only: true })?.needsPerson).toBe(true)
    expect(policyRequestOf({ subtype: "elicitation", message: "?" })?.tool).toBe("elicitation")
    expect(policyRequestOf({ subtype: "request_user_dialog", dialog_kind: "k" })?.tool).toBe("dialog")
    expect(policyRequestOf({ subtype: "hook_callback" })).toBeUndefined()
    expect(policyRequestOf({ subtype: "can_use_tool" })).toBeUndefined()
    expect(policyRequestOf("rubbish")).toBeUndefined()
  })

  it("[PO5] the verdict carries the rule, its reason, what the agent is told and when the ask expires", () => {
    expect(verdict([{ effect: "deny", reason: "Friday", message: "On Monday." }], "Bash", {})).toEqual({
      effect: "deny",
      rule: "r1",
      reason: 'Rule "r1" forbids this: Friday',
      message: "On Monday.",
      why: { rules: [{ id: "r1", place: 1 }], change: 'To allow it, change or remove rule "r1" (number 1).' },
    })
    expect(verdict([{ effect: "ask", expiresAfterMs: 5, maxExtensions: 0 }], "Bash", {}).maxExtensions).toBe(0)
    expect(verdict([{ effect: "ask", expiresAfterMs: 5000 }], "Bash", {})).toEqual({
      effect: "ask",
      rule: "r1",
      reason: 'Rule "r1" wants a person to decide this.',
      expiresAfterMs: 5000,
      why: {
        rules: [{ id: "r1", place: 1 }],
        change: 'To allow it without a person, change or remove rule "r1" (number 1).',
      },
    })
    expect(verdict([{ effect: "allow" }], "Bash", {}).reason).toBe('Rule "r1" allows this.')
  })

  it("[PO9] a rule that may forbid something makes it a question, and says so", () => {
    expect(verdict([denying("rm *"), { effect: "allow" }], "Bash", { command: "$X y" })).toEqual({
      effect: "ask",
      rule: "r1",
      reason: 'Rule "r1" may forbid this: what will run, or where, cannot be told beforehand.',
      why: {
        rules: [{ id: "r1", place: 1, span: { start: 0, end: 4 } }],
        field: "command",
        span: { start: 0, end: 4 },
        text: "$X y",
        change: 'Write it so that it can be read beforehand, or change rule "r1" (number 1).',
      },
    })
  })

  it("[PO29] the way out of a question is one that there is", () => {
    const change = (rules: Draft[], command: string) => verdict(rules, "Bash", { command }).why.change
    expect(change([allowing("make *")], "make all")).toBe(
      'To allow it, add a rule whose pattern is "make all" itself, without stars.',
    )
    expect(verdict([allowing("make *"), allowing("make all")], "Bash", { command: "make all" }).effect).toBe("allow")
    expect(change([allowing("npm *")], "npm ci $X")).toMatch(/^No pattern covers ".*" as it is written: write it in /)
    const found = verdict([{ ...denying("git push*"), branch: "main" }, { effect: "allow" }], "Bash", {
      command: "git push",
    })
    expect([found.effect, found.reason, found.why.change]).toEqual([
      "ask",
      'Rule "r1" may forbid this: the branch is not known.',
      'To be asked no longer, change rule "r1" (number 1): it depends on that.',
    ])
    const modeless = { rules: numbered([{ effect: "deny", mode: "plan" }]), relayAutoApproval: false }
    expect(evaluate(modeless, { tool: "Read", input: {} }, { session: "s1" }).reason).toContain("mode is not known")
  })

  it("[PO14] where folder or mode are unknown, an allow that names them does not fit, and a deny makes it a question", () => {
    const ask = (draft: Draft) =>
      evaluate(
        { rules: numbered([draft, { effect: "allow", tool: "Read" }]), relayAutoApproval: false },
        { tool: "Read", input: { file_path: "/x" } },
        { session: "s1" },
      )
    expect(ask({ effect: "deny", cwd: "/srv" }).effect).toBe("ask")
    expect(ask({ effect: "deny", mode: "plan" }).effect).toBe("ask")
    expect(ask({ effect: "deny", input: { file_path: "secret/**" } }).effect).toBe("ask")
    expect(ask({ effect: "allow", cwd: "/srv" }).rule).toBe("r2")
    expect(ask({ effect: "allow", mode: "plan" }).rule).toBe("r2")
    const unknown = { rules: numbered([{ ...allowing("ls"), cwd: "/srv" }]), relayAutoApproval: false }
    const asked = { tool: "Bash", input: { command: "ls; pwd" } }
    expect(evaluate(unknown, asked, { session: "s1" }).reason).toBe("No rule covers this.")
  })

  it("[PO15] an allow that does not mention it does not let a command out of the sandbox", () => {
    const input = { command: "npm ci", dangerouslyDisableSandbox: true }
    expect(verdict([allowing("npm ci")], "Bash", input).effect).toBe("ask")
    expect(verdict([allowing("npm ci")], "Bash", input).reason).toContain("outside the sandbox")
    const named = { ...allowing("npm ci"), input: { command: "npm ci", dangerouslyDisableSandbox: "true" } }
    expect(verdict([named], "Bash", input).effect).toBe("allow")
    expect(verdict([denying("npm ci")], "Bash", input).effect).toBe("deny")
  })
})
