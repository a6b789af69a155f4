import { describe, expect, it } from "vitest"
import { isMeant } from "../../src/agent/hooks.ts"

describe("a hook's matcher", () => {
  it.each([undefined, "", "*"])("[A34] %j means everything", (matcher) => {
    expect(isMeant(matcher, "Bash")).toBe(true)
  })

  it("[A34] means an event that has nothing to match", () => {
    expect(isMeant("Bash", undefined)).toBe(true)
  })

  it.each([
    ["Bash", "Bash", true],
    ["Bash", "BashOutput", false],
    ["Bash", "bash", false],
    ["Edit|Write", "Write", true],
    ["Edit, Write", "Write", true],
    ["Edit|Write", "NotebookEdit", false],
    ["mcp__files__read", "mcp__files__read", true],
    ["mcp__files", "mcp__files__read", false],
  ])("[A34] of plain names, %j compares each whole with %j: %j", (matcher, subject, isMatch) => {
    expect(isMeant(matcher, subject)).toBe(isMatch)
  })

  it.each([
    ["Edit.*", "NotebookEdit", true],
    ["^Edit.*", "NotebookEdit", false],
    ["mcp__.*__read", "mcp__files__read_all", true],
    ["mcp__.*__read$", "mcp__files__read_all", false],
  ])("[A34] a pattern %j may match %j anywhere: %j", (matcher, subject, isMatch) => {
    expect(isMeant(matcher, subject)).toBe(isMatch)
  })

  it("[A34] a pattern that is none means nothing", () => {
    expect(isMeant("Bash(", "Bash(")).toBe(false)
  })
})
