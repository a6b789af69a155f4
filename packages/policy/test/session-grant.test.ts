import { evaluate, type Rule, rulesFromUpdate } from "@signalbox/policy"
import { parsePolicy } from "@signalbox/policy/schemas"
import { describe, expect, it } from "vitest"
import { CONTEXT } from "./subject.ts"

const OPTIONS = { id: "grant", session: "s1", cwd: "/srv/app", reason: "granted by ada" }

function grant(toolName: string, ruleContent?: string, changes: Record<string, unknown> = {}): Rule[] | undefined {
  const rule = ruleContent === undefined ? { toolName } : { toolName, ruleContent }
  return rulesFromUpdate(
    { type: "addRules", rules: [rule], behavior: "allow", destination: "session", ...changes },
    OPTIONS,
  )
}

function effect(rules: Rule[] | undefined, tool: string, input: Record<string, unknown>, session = "s1") {
  expect(parsePolicy({ rules })).toMatchObject({ ok: true })
  return evaluate({ rules: rules ?? [], relayAutoApproval: false }, { tool, input }, { ...CONTEXT, session }).effect
}

describe("always allow, for this session", () => {
  it("[PO18] a whole tool", () => {
    expect(grant("Bash")).toEqual([
      { id: "grant", effect: "allow", tool: "Bash", session: "s1", reason: "granted by ada" },
    ])
    expect(effect(grant("Bash"), "Bash", { command: "ls" })).toBe("allow")
    expect(effect(grant("Bash"), "Bash", { command: "ls" }, "s2")).toBe("ask")
    expect(effect(grant("mcp__git"), "mcp__git__log", {})).toBe("allow")
    expect(effect(grant("mcp__git__log"), "mcp__git__push", {})).toBe("ask")
  })

  it("[PO18] a tool that is called like something every object has", () => {
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect(grant(name)).toMatchObject([{ tool: name }])
      expect(grant(name, "x")).toBeUndefined()
    }
  })

  it("[PO18] commands: exact, by their first words, by stars", () => {
    expect(effect(grant("Bash", "npm test"), "Bash", { command: "npm test" })).toBe("allow")
    expect(effect(grant("Bash", "npm test"), "Bash", { command: "npm test x" })).toBe("ask")
    const prefix = grant("Bash", "npm test:*")
    expect(effect(prefix, "Bash", { command: "npm test" })).toBe("allow")
    expect(effect(prefix, "Bash", { command: "npm test unit" })).toBe("allow")
    expect(effect(prefix, "Bash", { command: "npm testament" })).toBe("ask")
    expect(effect(prefix, "Bash", { command: "npm test && rm -rf /" })).toBe("ask")
    expect(effect(grant("Bash", "git * --stat"), "Bash", { command: "git log --stat" })).toBe("allow")
  })

  it("[PO18] files: from the root, from the project, from the folder, for all tools of the family", () => {
    const file = (content: string, tool: string, input: Record<string, unknown>) =>
      effect(grant("Edit", content), tool, input)
    expect(file("/src/**", "Edit", { file_path: "/srv/app/src/a.ts" })).toBe("allow")
    expect(file("/src/**", "Write", { file_path: "src/a.ts" })).toBe("allow")
    expect(file("/src/**", "NotebookEdit", { notebook_path: "src/a.ipynb" })).toBe("allow")
    expect(file("/src/**", "Edit", { file_path: "/src/a.ts" })).toBe("ask")
    expect(file("//tmp/**", "Edit", { file_path: "/tmp/a" })).toBe("allow")
    expect(file("./docs/*", "Edit", { file_path: "docs/a.md" })).toBe("allow")
    expect(effect(grant("Read", "//tmp/**"), "Grep", { path: "/tmp/x" })).toBe("allow")
    expect(effect(grant("Read", "//tmp/**"), "Edit", { file_path: "/tmp/x" })).toBe("ask")
  })

  it("[PO18] a host", () => {
    const rules = grant("WebFetch", "domain:example.com")
    expect(effect(rules, "WebFetch", { url: "https://example.com/a" })).toBe("allow")
    expect(effect(rules, "WebFetch", { url: "https://example.com" })).toBe("allow")
    expect(effect(rules, "WebFetch", { url: "https://evil-example.com/" })).toBe("ask")
  })

  it("[PO18] a denial and several rules at once", () => {
    const rules = rulesFromUpdate(
      {
        type: "addRules",
        rules: [{ toolName: "Bash", ruleContent: "rm:*" }, { toolName: "WebSearch" }],
        behavior: "deny",
        destination: "session",
      },
      OPTIONS,
    )
    expect(rules?.map(({ id }) => id)).toEqual(["grant.1", "grant.2"])
    expect(effect(rules, "Bash", { command: "ls; rm x" })).toBe("deny")
  })

  it("[PO19] what cannot be said in rules is left to the CLI, all of it", () => {
    expect(grant("Bash", "npm ci && npm test")).toBeUndefined()
    expect(grant("Bash", ":*")).toBeUndefined()
    expect(grant("Bash", "")).toBeUndefined()
    expect(grant("Bash", "a\u200b")).toBeUndefined()
    expect(grant("Bash", "a".repeat(600))).toBeUndefined()
    expect(grant("Bash", "a*".repeat(33))).toBeUndefined()
    expect(grant("Edit", "~/x")).toBeUndefined()
    expect(grant("Edit", "/src/[ab].ts")).toBeUndefined()
    expect(grant("Edit", "/../etc/**")).toBeUndefined()
    expect(grant("Edit", "*.env", { behavior: "deny" })).toBeUndefined()
    expect(grant("Agent", "Explore")).toBeUndefined()
    expect(grant("WebFetch", "domain:*.com")).toBeUndefined()
    expect(grant("WebFetch", "domain:example.com", { behavior: "deny" })).toBeUndefined()
    expect(grant("AskUserQuestion")).toBeUndefined()
    expect(grant("Ba*")).toBeUndefined()
    expect(grant("Bash", "ls", { destination: "localSettings" })).toBeUndefined()
    expect(grant("Bash", "ls", { type: "removeRules" })).toBeUndefined()
    expect(grant("Bash", "ls", { type: "replaceRules" })).toBeUndefined()
    expect(grant("Bash", "ls", { behavior: "later" })).toBeUndefined()
    expect(grant("Bash", "ls", { rules: [] })).toBeUndefined()
    expect(
      grant("Bash", "ls", { rules: [{ toolName: "Bash" }, { toolName: "Agent", ruleContent: "x" }] }),
    ).toBeUndefined()
    expect(rulesFromUpdate({ type: "setMode", mode: "acceptEdits", destination: "session" }, OPTIONS)).toBeUndefined()
    const noFolder = { id: "g", session: "s" }
    const update = { type: "addRules" as const, behavior: "allow" as const, destination: "session" as const }
    expect(
      rulesFromUpdate({ ...update, rules: [{ toolName: "Edit", ruleContent: "/src/**" }] }, noFolder),
    ).toBeUndefined()
  })
})
