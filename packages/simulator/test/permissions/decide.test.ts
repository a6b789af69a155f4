import { describe, expect, it } from "vitest"
import { decide } from "../../src/permissions/decide.ts"
import { applyUpdates, initialPermissions, setMode } from "../../src/permissions/permission-state.ts"
import { matchesRule, parseRule } from "../../src/permissions/rules.ts"

const state = (options: { mode?: string; allowed?: string[]; disallowed?: string[] } = {}) =>
  initialPermissions({
    mode: options.mode ?? "default",
    allowed: options.allowed ?? [],
    disallowed: options.disallowed ?? [],
    directories: [],
    settings: [],
  })
const bash = (command: string) => ({ toolName: "Bash", input: { command }, cwd: "/p", generation: 325 as const })
const write = (file_path: string) => ({ toolName: "Write", input: { file_path }, cwd: "/p", generation: 325 as const })

describe("rules and modes", () => {
  it.each([
    ["Bash(npm test:*)", "npm test --watch", true],
    ["Bash(npm test:*)", "npm tests", false],
    ["Bash(npm run *)", "npm run build", true],
    ["Bash(git * main)", "git push main", true],
    ["Bash(ls)", "ls -l", false],
    ["Bash", "anything", true],
  ])("[A17] %s speaks of %s: %s", (rule, command, expected) => {
    expect(matchesRule(parseRule(rule), "Bash", { command })).toBe(expected)
  })

  it.each([
    ["mcp__files", "mcp__files__read", {}, true],
    ["mcp__files__*", "mcp__files__read", {}, true],
    ["mcp__file", "mcp__files__read", {}, false],
    ["WebFetch(domain:example.org)", "WebFetch", { url: "https://example.org/x" }, true],
    ["Edit(src/**)", "Edit", { file_path: "/p/src/a/b.ts" }, true],
    ["Edit(src/**)", "Edit", { file_path: "/p/test/b.ts" }, false],
  ])("[A17] %s speaks of %s %j: %s", (rule, tool, input, expected) => {
    expect(matchesRule(parseRule(rule), tool, input)).toBe(expected)
  })

  it("[A18] denies before it asks, and asks before it allows", () => {
    const both = state({ allowed: ["Bash"], disallowed: ["Bash(rm:*)"] })
    expect(decide(both, bash("rm x"))).toMatchObject({ behavior: "deny" })
    expect(decide(both, bash("npm test"))).toMatchObject({ behavior: "allow" })
    expect(decide(state(), bash("npm test"))).toMatchObject({ behavior: "ask" })
  })

  it("[A18] does not ask about what only reads", () => {
    expect(decide(state(), bash("ls -la | head -3 && git status"))).toMatchObject({ behavior: "allow" })
    expect(decide(state(), bash("echo hi > out"))).toMatchObject({ behavior: "ask", blockedPath: "/p/out" })
    expect(decide(state(), { ...write("/p/a"), toolName: "Read" })).toMatchObject({ behavior: "allow" })
  })

  it("[A19] follows the mode", () => {
    expect(decide(state({ mode: "acceptEdits" }), write("/p/a"))).toMatchObject({ behavior: "allow" })
    expect(decide(state({ mode: "acceptEdits" }), write("/elsewhere"))).toMatchObject({ behavior: "ask" })
    expect(decide(state({ mode: "bypassPermissions" }), bash("npm test"))).toMatchObject({ behavior: "allow" })
    expect(decide(state({ mode: "dontAsk" }), bash("npm test"))).toMatchObject({ behavior: "deny" })
    expect(setMode(setMode(state({ mode: "acceptEdits" }), "plan"), "plan").modeBeforePlan).toBe("acceptEdits")
  })

  it("[A20] obeys the updates of the host, each in its destination", () => {
    const rules = [{ toolName: "Bash", ruleContent: "npm test:*" }]
    const add = { type: "addRules", rules, behavior: "allow", destination: "session" }
    const added = applyUpdates(state(), [add, { type: "setMode", mode: "plan", destination: "session" }])
    expect(decide(added, bash("npm test"))).toMatchObject({ behavior: "allow" })
    expect(added.mode).toBe("plan")
    const removed = applyUpdates(added, [{ ...add, type: "removeRules" }])
    expect(removed.rules.allow).toEqual([])
    const replaced = applyUpdates(added, [{ ...add, type: "replaceRules", rules: [{ toolName: "Read" }] }])
    expect(replaced.rules.allow).toEqual([{ toolName: "Read", source: "session" }])
    const folders = applyUpdates(state(), [{ type: "addDirectories", directories: ["/q"], destination: "session" }])
    expect(folders.directories).toEqual(["/q"])
    expect(applyUpdates(state(), "nonsense")).toEqual(state())
    expect(applyUpdates(state(), [add], (destination) => destination !== "session")).toEqual(state())
  })
})
