import { describe, expect, it } from "vitest"
import { suggestionsOf } from "../../src/asks/forms/standing-permissions.tsx"
import { timeLeft } from "../../src/asks/request-words.ts"
import { agentWords, headingOf, summaryOf } from "../../src/fleet/ask-words.ts"
import { askOf } from "../asks/ask-fixture.ts"

describe("the words of an ask", () => {
  it("name what would be done", () => {
    expect(headingOf(askOf({ toolName: "Bash" }))).toBe("Run a command")
    expect(headingOf(askOf({ toolName: "Edit", input: { file_path: "/home/me/api/src/auth.ts" } }))).toBe(
      "Edit …/src/auth.ts",
    )
    expect(headingOf(askOf({ toolName: "mcp__files__read", input: {} }))).toBe("Use read (files)")
    expect(summaryOf(askOf({ toolName: "Bash", input: { command: "rm -rf\n node_modules" } }))).toBe(
      "$ rm -rf node_modules",
    )
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
    expect(words.map(({ words: verb, rules }) => [verb, ...rules])).toEqual([
      ["Always allow", "Bash(npm ci:*)"],
      ["Trust folder", "/tmp/x"],
      ["Auto-accept edits from now on"],
    ])
  })

  it("tell a plan by its first words, without the marks of its markup", () => {
    const plan = "\n\n## Move to **SQLite**\n\n1. Read"
    expect(summaryOf(askOf({ kind: "plan", input: { plan } }))).toBe("Plan: Move to SQLite")
  })

  it("name the agent that asks", () => {
    expect(agentWords({ request: {} })).toBe("main agent")
    expect(agentWords({ request: { agent_id: "a7\u202e" } })).toBe("sub-agent a7⟨U+202E RLO⟩")
  })

  it("tell how long it can still be answered, to the second when it gets close", () => {
    expect(timeLeft(3 * 86_400_000)).toBe("in 3 d")
    expect(timeLeft(5 * 3_600_000)).toBe("in 5 h")
    expect(timeLeft(30 * 60_000)).toBe("in 30 min")
    expect(timeLeft(61_900)).toBe("in 1:01")
    expect(timeLeft(-5)).toBe("now")
  })
})
