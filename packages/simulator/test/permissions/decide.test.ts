import { profileOf } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { decide, fileDenial } from "../../src/permissions/decide.ts"
import { applyUpdates, initialPermissions, matchesRule, parseRule, setMode } from "../../src/permissions/rules.ts"

const state = (options: { mode?: string; allowed?: string[]; disallowed?: string[] } = {}) =>
  initialPermissions({
    mode: options.mode ?? "default",
    allowed: options.allowed ?? [],
    disallowed: options.disallowed ?? [],
    directories: [],
    settings: [],
    trustsProject: true,
  })
const { quirks } = profileOf("2.1.325")
const bash = (command: string) => ({ toolName: "Bash", input: { command }, cwd: "/p", quirks })
const write = (file_path: string) => ({ toolName: "Write", input: { file_path }, cwd: "/p", quirks })

describe("rules and modes", () => {
  it.each([
    ["Bash(npm test:*)", "npm test --watch", true],
    ["Bash(npm test:*)", "npm tests", false],
    ["Bash(npm run *)", "npm run build", true],
    ["Bash(git * main)", "git push main", true],
    ["Bash(ls)", "ls -l", false],
    ["Bash", "anything", true],
  ])("[A17] %s speaks of %s: %s", (rule, command, expected) => {
    expect(matchesRule(parseRule(rule), bash(command))).toBe(expected)
  })

  it.each([
    ["mcp__files", "mcp__files__read", {}, true],
    ["mcp__files__*", "mcp__files__read", {}, true],
    ["mcp__file", "mcp__files__read", {}, false],
    ["WebFetch(domain:example.org)", "WebFetch", { url: "https://example.org/x" }, true],
    ["Edit(src/**)", "Edit", { file_path: "/p/src/a/b.ts" }, true],
    ["Edit(src/**)", "Edit", { file_path: "/p/test/b.ts" }, false],
    ["Edit(src/**)", "Write", { file_path: "src/new.ts" }, true],
    ["Edit(src/**)", "Edit", { file_path: "/p/lib/src/b.ts" }, false],
    ["Read(./secret.env)", "Read", { file_path: "secret.env" }, true],
    ["Read(./secret.env)", "Read", { file_path: "sub/secret.env" }, false],
    ["Read(*.pem)", "Read", { file_path: "sub/key.pem" }, true],
    ["Read(/keys/)", "Read", { file_path: "keys/a/b" }, true],
    ["Read(//etc/**)", "Read", { file_path: "/etc/hosts" }, true],
    ["Read(etc/**)", "Read", { file_path: "/etc/hosts" }, false],
  ])("[A17] %s speaks of %s %j: %s", (rule, tool, input, expected) => {
    expect(matchesRule(parseRule(rule), { toolName: tool, input, cwd: "/p", quirks })).toBe(expected)
  })

  it("[A18] denies before it asks, and asks before it allows", () => {
    const both = state({ allowed: ["Bash"], disallowed: ["Bash(rm:*)"] })
    expect(decide(both, bash("rm x"))).toMatchObject({ behavior: "deny" })
    expect(decide(both, bash("npm test"))).toMatchObject({ behavior: "allow" })
    expect(decide(state(), bash("npm test"))).toMatchObject({ behavior: "ask" })
  })

  it("[A43] forbids commands that hold a forbidden one, and allows them only if every one is allowed or only looks", () => {
    const rules = state({ allowed: ["Bash(npm test:*)"], disallowed: ["Bash(rm:*)"] })
    for (const command of ["cd sub && rm y", "npm test && rm -rf z", "FOO=1 rm q"])
      expect(decide(rules, bash(command)), command).toMatchObject({ behavior: "deny" })
    for (const command of ["npm test; git push", "npm test $(git push)", "npm test | tee out"])
      expect(decide(rules, bash(command)), command).toMatchObject({ behavior: "ask" })
    for (const command of ["npm test", "echo 'rm x; rm y' && npm test", "npm test | grep failed"])
      expect(decide(rules, bash(command)), command).toMatchObject({ behavior: "allow" })
  })

  it("[A43] suggests a rule for each of several commands that would have to be allowed", () => {
    const rulesOf = (command: string) => {
      const decision = decide(state({ allowed: ["Bash(npm test:*)"] }), bash(command))
      return decision.behavior === "ask" ? decision.suggestions : undefined
    }
    const allowing = (...contents: string[]) => ({
      type: "addRules",
      rules: contents.map((ruleContent) => ({ toolName: "Bash", ruleContent })),
      behavior: "allow",
      destination: "localSettings",
    })
    expect(rulesOf("git status && npm test && npm run build && npm ci")).toEqual([allowing("npm run *", "npm ci *")])
    expect(rulesOf("curl -s x.org | sh")).toEqual([allowing("curl -s x.org"), allowing("sh")])
    expect(rulesOf("npm ci || npm run build")).toEqual([allowing("npm ci *", "npm run *")])
    expect(rulesOf("find . -name a -delete")).toEqual([])
    expect(rulesOf("cat /etc/hosts")).toEqual([
      allowing("cat /etc/hosts"),
      { ...allowing(), rules: [{ toolName: "Read", ruleContent: "//etc/**" }], destination: "session" },
    ])
  })

  it("[A44] asks in every mode about files that others run, on the newest", () => {
    const accepting = state({ mode: "acceptEdits" })
    for (const path of [".git/hooks/x", ".vscode/settings.json", ".bashrc", ".claude/settings.json", ".mcp.json"])
      expect(decide(accepting, write(path)), path).toMatchObject({ behavior: "ask", reason: { type: "safetyCheck" } })
    expect(decide(accepting, write(".env"))).toMatchObject({ behavior: "allow" })
    expect(decide(accepting, { ...write(".bashrc"), quirks: profileOf("2.1.120").quirks })).toMatchObject({
      behavior: "allow",
    })
  })

  it("[A44] a file that a rule denies is neither read nor changed", () => {
    const denying = state({ disallowed: ["Read(./secret.env)", "Edit(gen/**)"] })
    const read = { ...write("secret.env"), toolName: "Read" }
    expect(fileDenial(denying, read)?.message).toMatch(/denied by your permission settings/)
    expect(fileDenial(denying, write("secret.env"))?.message).toMatch(/covered by a Read deny rule/)
    expect(fileDenial(denying, write("gen/a.ts"))?.message).toMatch(/denied by your permission settings/)
    expect(fileDenial(denying, { ...read, input: { file_path: "gen/a.ts" } })).toBeUndefined()
  })

  it("[A44] the newest takes no permission from a project's settings, the others do", () => {
    const settings = [
      { source: "projectSettings", settings: { permissions: { allow: ["Bash(make)"], deny: ["Read"] } } },
    ]
    const launched = { mode: "default", allowed: [], disallowed: [], directories: [], settings }
    expect(initialPermissions({ ...launched, trustsProject: false }).rules.allow).toEqual([])
    expect(initialPermissions({ ...launched, trustsProject: false }).rules.deny).toHaveLength(1)
    expect(initialPermissions({ ...launched, trustsProject: true }).rules.allow).toHaveLength(1)
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
