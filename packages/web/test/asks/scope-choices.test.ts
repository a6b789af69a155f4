import { expect, it } from "vitest"
import { scopeChoices } from "../../src/asks/forms/scope-choices.ts"
import { suggestionsOf } from "../../src/asks/forms/standing-permissions.tsx"
import { unseenWords } from "../../src/asks/forms/unseen-lines.ts"
import { fitsPhone } from "../../src/asks/request-words.ts"
import { diffTexts } from "../../src/transcript/content/line-diff.ts"

const rule = (ruleContent: string) => ({ toolName: "Bash", ruleContent })
const adds = (rules: readonly unknown[], destination = "localSettings") => ({
  type: "addRules",
  rules,
  behavior: "allow",
  destination,
})

it("[K-117] each scope shows all that it would store, and sends exactly that", () => {
  const given = suggestionsOf([
    adds([rule("npm ci:*")]),
    { type: "setMode", mode: "acceptEdits", destination: "session" },
  ])
  const choices = scopeChoices(given)
  expect(choices.map(({ label, stores }) => [label, ...stores])).toEqual([
    ["Allow in this session", "Always allow Bash(npm ci:*)", "for this session, until revoked"],
    ["Allow in this project (just me)", "Always allow Bash(npm ci:*)", ".claude/settings.local.json"],
    ["Allow in all projects on this machine", "Always allow Bash(npm ci:*)", "~/.claude/settings.json"],
  ])
  expect(choices[2]?.updates).toEqual([adds([rule("npm ci:*")], "userSettings")])
})

it("[K-117] a change of mode, a denial, very many rules and what belongs to the process are no scope", () => {
  const none = [
    { type: "setMode", mode: "acceptEdits", destination: "session" },
    { ...adds([rule("x")]), behavior: "deny" },
    adds([rule("x")], "cliArg"),
  ]
  expect(scopeChoices(suggestionsOf(none))).toEqual([])
  expect(scopeChoices(suggestionsOf([adds(Array.from({ length: 11 }, (_, n) => rule(`make ${n}`)))]))).toEqual([])
})

it("[K-111] lines with hidden characters are told by their numbers, of many the first few", () => {
  const lines = Array.from({ length: 400 }, (_, n) => `line ${n + 1}`)
  expect(unseenWords(diffTexts("", lines.join("\n")))).toBeUndefined()
  lines[9] = "p\u0430ypal"
  expect(unseenWords(diffTexts("", lines.join("\n")))).toBe("Hidden characters on line 10.")
  for (let at = 100; at < 110; at++) lines[at] = "a\u200bb"
  expect(unseenWords(diffTexts("", lines.join("\n")))).toBe(
    "Hidden characters on lines 10, 101, 102, 103, 104, and 6 more lines.",
  )
})

it("[K-113] a short tool request fits a phone's dock, a long one or a form does not", () => {
  expect(fitsPhone({ kind: "tool", input: { command: "npm test", description: "Run the tests" } })).toBe(true)
  expect(fitsPhone({ kind: "tool", input: { command: "x".repeat(300) } })).toBe(false)
  expect(fitsPhone({ kind: "tool", input: { file_path: "/a", content: "a\nb\nc\nd\ne\nf\ng" } })).toBe(false)
  expect(fitsPhone({ kind: "plan", input: {} })).toBe(false)
})
