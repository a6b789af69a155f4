import { readFileSync } from "node:fs"
import { join } from "node:path"
import { judgeCall, type Rule, SEES } from "@signalbox/policy"
import { describe, expect, it } from "vitest"
import { CONTEXT } from "./subject.ts"

const judged = (rules: Rule[], input: Record<string, unknown>, context: object = {}, tool = "Bash") =>
  judgeCall({ rules, relayAutoApproval: false }, { tool, input }, { ...CONTEXT, ...context })

const RULES: Rule[] = [
  { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test" } },
  { id: "no-rm", effect: "deny", tool: "Bash", input: { command: "rm *" }, message: "Keep it." },
  { id: "pushes", effect: "ask", tool: "Bash", input: { command: "git push *" }, expiresAfterMs: 5 },
]

describe("a tool call before it runs", () => {
  it("[EN6] is stopped by deny and ask rules alone; an allow and no rule leave it to the agent", () => {
    expect(judged(RULES, { command: "rm x" })).toMatchObject({ effect: "deny", rule: "no-rm", message: "Keep it." })
    expect(judged(RULES, { command: "git push x" })).toMatchObject({ effect: "ask", rule: "pushes", expiresAfterMs: 5 })
    const left = { effect: "allow", reason: "No rule stops this." }
    for (const command of ["npm test", "make"]) {
      expect(judged(RULES, { command })).toMatchObject(left)
      expect(judged(RULES, { command })).not.toHaveProperty("rule")
    }
    expect(judged(RULES, { questions: [] }, {}, "AskUserQuestion")).toMatchObject(left)
    expect(judged([], { command: "cat $(x" })).toMatchObject(left)
    expect(judged(RULES.slice(0, 1), { command: "cat $(x" })).toMatchObject(left)
  })

  it("[EN6] is asked about where rules cannot tell, and what they say names no rule that nobody wrote", () => {
    const rules: Rule[] = [{ id: "etc", effect: "deny", tool: "Read", input: { file_path: "/etc/**" } }]
    const unclear = { effect: "ask", reason: expect.stringContaining("cannot tell") }
    for (const input of [{ command: "cat $(x" }, { command: "ls", dangerouslyDisableSandbox: true }]) {
      const verdict = judged(rules, input)
      expect(verdict).toMatchObject({ ...unclear, why: { rules: [], change: expect.stringMatching(/^[^"]+\.$/) } })
      expect(verdict).not.toHaveProperty("rule")
    }
    const paths = Array.from({ length: 10_000 }, (_, n) => `/a/b/c/${n}`)
    expect(judged(rules, { file_path: paths }, {}, "Read")).toMatchObject(unclear)
  })

  it("[EN6] tells where the rule that stops it stands among all rules", () => {
    const { why } = judged(RULES, { command: "rm x" })
    expect(why.rules).toMatchObject([{ id: "no-rm", place: 2 }])
    expect(why.change).toContain('rule "no-rm" (number 2)')
  })

  it("[EN9] is judged in the session's folder and in the one that the agent has gone to; the stricter verdict counts", () => {
    const rules: Rule[] = [
      { id: "no-keys", effect: "deny", input: { file_path: "/srv/keys/**" } },
      { id: "ask-app", effect: "ask", input: { file_path: "/srv/app/**" } },
    ]
    const effectIn = (cwd: string | undefined, wentTo?: string) =>
      judged(rules, { file_path: "one" }, { cwd, wentTo }, "Read").effect
    expect(effectIn("/srv/other")).toBe("allow")
    expect(effectIn("/srv/other", "/srv/app")).toBe("ask")
    expect(effectIn("/srv/app", "/srv/other")).toBe("ask")
    expect(effectIn("/srv/app", "/srv/keys")).toBe("deny")
    expect(effectIn("/srv/keys", "/srv/app")).toBe("deny")
    expect(effectIn(undefined, "/srv/keys")).toBe("deny")
  })
})

it("[EN5] the page of the rules lists in the same words what is not judged", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/spec/enforce.md"), "utf8")
  const [, listed = ""] = page.split("## What it cannot judge")
  const points = [...(listed.split("Besides:")[0]?.matchAll(/^- (.*)$/gm) ?? [])].map(([, point = ""]) => point)
  expect(points).toEqual(SEES.everything.notJudged.map((words) => expect.stringContaining(words)))
})
