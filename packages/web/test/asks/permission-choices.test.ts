import { describe, expect, it } from "vitest"
import { modeChoices, modeWords } from "../../src/agent/session-choices.ts"
import { suggestionsOf } from "../../src/asks/forms/standing-permissions.tsx"

describe("what a person can choose of permissions", () => {
  it("[K-22] rules and folders can be taken back as well as added", () => {
    const rules = [{ toolName: "Bash", ruleContent: "npm ci:*" }]
    const said = suggestionsOf([
      { type: "removeRules", rules, behavior: "allow", destination: "session" },
      { type: "removeRules", rules, behavior: "deny", destination: "userSettings" },
      { type: "removeDirectories", directories: ["/srv"], destination: "session" },
      { type: "setMode", mode: "delegate", destination: "session" },
      { type: "removeRules", rules, behavior: "of_tomorrow", destination: "session" },
    ])
    expect(said.map(({ words, rules: listed }) => [words, ...listed])).toEqual([
      ["Stop always allowing", "Bash(npm ci:*)"],
      ["Stop always denying", "Bash(npm ci:*)"],
      ["Stop trusting folder", "/srv"],
      ["Switch to delegate mode"],
    ])
  })

  it("[K-22] the mode delegate is offered for the versions that have it, and named wherever it is met", () => {
    const rights = { isAdmin: false, mayUseAuto: false }
    const values = (version: string | null) => modeChoices("default", rights, version).map(({ value }) => value)
    expect(values("2.1.37")).toContain("delegate")
    expect(values("2.0.77")).toContain("delegate")
    for (const version of ["2.1.120", "2.1.325", null]) expect(values(version)).not.toContain("delegate")
    expect(modeWords("delegate")).toBe("Delegate")
  })
})
