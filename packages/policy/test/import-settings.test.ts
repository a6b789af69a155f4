import { evaluate, importSettings, type Rule } from "@signalbox/policy"
import { parsePolicy } from "@signalbox/policy/schemas"
import { describe, expect, it } from "vitest"
import { CONTEXT } from "./subject.ts"

const imported = (permissions: unknown) => importSettings({ permissions }, { cwd: "/srv/app" })

describe("Claude Code's settings", () => {
  it("[PO30] entries become rules that say what they said", () => {
    const { rules, entries } = imported({
      allow: ["Bash(npm test:*)", "Edit(/src/**)", "mcp__git", "WebFetch(domain:example.com)"],
      deny: ["Bash(rm:*)", "Read(//etc/**)"],
      ask: ["Bash(git push:*)"],
    })
    expect(parsePolicy({ rules })).toMatchObject({ ok: true })
    expect(entries.map(({ entry, effect, rules: ids }) => [entry, effect, ids.length > 0])).toEqual([
      ["Bash(rm:*)", "deny", true],
      ["Read(//etc/**)", "deny", true],
      ["Bash(git push:*)", "ask", true],
      ["Bash(npm test:*)", "allow", true],
      ["Edit(/src/**)", "allow", true],
      ["mcp__git", "allow", true],
      ["WebFetch(domain:example.com)", "allow", true],
    ])
    const effect = (tool: string, input: Record<string, unknown>) =>
      evaluate({ rules: [...rules], relayAutoApproval: false }, { tool, input }, CONTEXT).effect
    expect(effect("Bash", { command: "npm test unit" })).toBe("allow")
    expect(effect("Bash", { command: "npm test && rm x" })).toBe("deny")
    expect(effect("Bash", { command: "git push origin" })).toBe("ask")
    expect(effect("Write", { file_path: "/srv/app/src/a.ts" })).toBe("allow")
    expect(effect("Grep", { path: "/etc/ssl" })).toBe("deny")
  })

  it("[PO30] what cannot be taken is told, and what remains is taken", () => {
    const { rules, entries, notes } = imported({
      allow: ["Bash(npm ci && npm test)", 7, "Bash(ls:*", "Agent(Explore)", "Bash(ls)"],
      defaultMode: "plan",
      additionalDirectories: ["/x"],
    })
    expect(rules.map(({ input }) => input)).toEqual([{ command: ["ls"] }])
    expect(entries.map(({ rules: ids, notes: why }) => [ids.length, why.length > 0])).toEqual([
      [0, true],
      [0, true],
      [0, true],
      [0, true],
      [1, false],
    ])
    expect(notes).toEqual([
      "permissions.defaultMode has no counterpart here, and was left out.",
      "permissions.additionalDirectories has no counterpart here, and was left out.",
    ])
    for (const value of [undefined, 7, {}, { permissions: [] }, { permissions: "x" }]) {
      expect(importSettings(value).rules).toEqual([])
    }
  })

  it.each([
    ["Bash(ls*)", 'also matches "lsof"'],
    ["Bash(npm run build*)", 'also matches "buildx"'],
    ["Write(/src/**)", "compares paths with Edit(…) only"],
    ["Read(/etc/**)", "begins at the settings' folder"],
    ["mcp__*", "matches no tool in Claude Code"],
    ["mcp__git*", "matches no tool in Claude Code"],
    ["Bash(make *)", 'does not allow "make x": a star does not cover which file or target is run.'],
    ["Bash(npx *)", 'does not allow "npx x": a star does not cover which file or target is run.'],
    ["Bash(python:*)", 'does not allow "python x": a star does not cover'],
    ["Bash(sudo *)", 'does not allow "sudo x": what it runs must be allowed, too.'],
    ["Bash(timeout *)", 'does not allow "timeout x x": what it runs must be allowed, too.'],
    ["Bash(*)", 'does not allow "make x": a star does not cover'],
  ])("[PO30] %s is told to do something else than it seems", (entry, note) => {
    expect(imported({ allow: [entry] }).entries[0]?.notes.join(" ")).toContain(note)
  })

  const judged = (permissions: unknown, tool: string, input: Record<string, unknown>, cwd = "/srv/app") => {
    const rules: Rule[] = [...imported(permissions).rules, { id: "rest", effect: "allow" }]
    return evaluate({ rules, relayAutoApproval: false }, { tool, input }, { ...CONTEXT, cwd }).effect
  }

  it("[PO30] a project's entries hold in that project only", () => {
    const { rules } = imported({ allow: ["Bash(npm test:*)"], deny: ["Bash(rm:*)"] })
    expect(rules.map(({ cwd }) => cwd)).toEqual(["/srv/app/**", "/srv/app/**"])
    const elsewhere = { ...CONTEXT, cwd: "/srv/other" }
    const request = { tool: "Bash", input: { command: "npm test" } }
    expect(evaluate({ rules: [...rules], relayAutoApproval: false }, request, elsewhere).effect).toBe("ask")
    expect(evaluate({ rules: [...rules], relayAutoApproval: false }, request, CONTEXT).effect).toBe("allow")
    expect(importSettings({ permissions: { allow: ["Bash(ls)"] } }).rules[0]?.cwd).toBeUndefined()
    const odd = importSettings({ permissions: { allow: ["Bash(ls)"] } }, { cwd: "/srv/*" })
    expect([odd.rules, odd.entries[0]?.notes]).toEqual([
      [],
      ["The project's folder cannot be said in a rule, so it was left out."],
    ])
  })

  it.each([
    ["Read(/secrets)", "/srv/app/secrets/a/key"],
    ["Read(/secrets/)", "/srv/app/secrets/key"],
    ["Read(//etc)", "/etc/ssl/key"],
    ["Read(.env)", "/srv/app/web/.env"],
    ["Read(.env)", "/srv/app/.env"],
    ["Read(./.env)", "/srv/app/.env"],
    ["Read(config/secrets)", "/srv/app/config/secrets/x"],
    ["Read(/keys/*)", "/srv/app/keys/a/b"],
    ["Read(*.pem)", "/srv/app/a/b.pem"],
  ])("[PO30] a denied %s forbids %s: a folder is all that is in it, a name is found at any depth", (entry, path) => {
    expect(judged({ deny: [entry] }, "Read", { file_path: path })).toBe("deny")
    expect(judged({ deny: [entry] }, "Read", { file_path: "/srv/app/README.md" })).toBe("allow")
  })

  it.each([
    ["Read(.env)", "/home/ada/app/web/.env"],
    ["Read(./.env)", "/home/ada/app/.env"],
    ["Read(./secrets/**)", "secrets/a/key"],
    ["Read(~/.ssh/**)", "/home/ada/.ssh/id_rsa"],
    ["Read(~/.ssh/**)", "~/.ssh/id_rsa"],
    ["Read(/etc/**)", "/etc/passwd"],
    ["Read(*.p?m)", "a/b.pem"],
    ["Read(.env.[a-z]*)", ".env.local"],
    ["Read(**)", "a/b"],
  ])("[PO30] a person's own settings: a denied %s forbids %s, here or wider", (entry, path) => {
    const { rules, deniesLeftOut } = importSettings({ permissions: { deny: [entry] } })
    expect(deniesLeftOut).toBe(0)
    expect(parsePolicy({ rules })).toMatchObject({ ok: true })
    const policy = { rules: [...rules, { id: "rest", effect: "allow" as const }], relayAutoApproval: false }
    const effect = (file_path: string) =>
      evaluate(policy, { tool: "Read", input: { file_path } }, { session: "s1", cwd: "/home/ada/app" }).effect
    expect(effect(path)).toBe("deny")
    expect(effect("/srv/README.md")).toBe("allow")
  })

  it("[PO30] what was taken wider says so, and an allow never is", () => {
    const notes = (permissions: unknown) =>
      importSettings({ permissions }).entries.map(({ notes: told }) => told.join(" "))
    const wider = notes({ deny: ["Read(~/.ssh/**)", "Edit(*.p?m)", "mcp__*"], ask: ["Edit(/x)"] })
    expect(wider).toEqual([
      expect.stringContaining("Here it holds for every path like **/.ssh/**, which is wider."),
      expect.stringContaining("Here it holds for every path like ./**/*.p*m/**, which is wider."),
      expect.stringContaining("Here it holds for every tool whose name begins with mcp__."),
      expect.stringContaining("Here it holds for every path like **/x/**, which is wider."),
    ])
    const { rules } = importSettings({ permissions: { allow: ["Read(~/x)", "Edit(/x)", "Edit(*.p?m)", "mcp__*"] } })
    expect(rules).toEqual([])
    const own = importSettings({ permissions: { allow: ["Write(./src/**)"] } })
    expect(own.rules.map(({ input }) => input)).toEqual([{ file_path: "./src/**" }])
    expect(own.entries[0]?.notes.at(-1)).toBe("Here it holds for Write.")
    expect(notes({ allow: ["Write(~/x)"] }).join()).not.toContain("Here it holds")
  })

  it("[PO30] how many deny entries became no rule is told", () => {
    const left = (deny: unknown) => imported({ deny, allow: ["Bash(a && b)"] }).deniesLeftOut
    expect(left(["Bash(rm:*)", "WebFetch(domain:x.com)", 7, "Read(~/**)", "Read(../x)"])).toBe(4)
    expect(left("Bash(rm:*)")).toBe(1)
    expect(left(Array.from({ length: 1002 }, (_, index) => `Bash(tool${index})`))).toBe(2)
    expect(importSettings({}).deniesLeftOut).toBe(0)
  })

  it("[PO30] nothing vanishes without a word: too many entries, more rules than a policy has, stars in names", () => {
    const many = Array.from({ length: 1002 }, (_, index) => `Bash(tool${index})`)
    const { rules, notes } = imported({ allow: many, deny: ["Read(//etc)"] })
    expect(rules).toHaveLength(1004)
    expect(notes).toEqual([
      "permissions.allow has 1002 entries; those after the first 1000 were left out.",
      "These are 1004 rules, and a policy has at most 1000: remove some before you use them.",
    ])
    expect(imported({ allow: ["mcp__git*", "mcp__*"], deny: ["mcp__*__x", "*"] }).rules).toEqual([])
    expect(imported({ allow: ["mcp__git__*"] }).rules.map(({ tool }) => tool)).toEqual(["mcp__git__*"])
  })

  it("[PO30] whatever stands in the settings, the rules are a policy, and the rest is told", () => {
    let deep: unknown = "Bash(ls)"
    for (let level = 0; level < 100_000; level++) deep = [deep]
    const hostile = [
      deep,
      null,
      { toolName: "Bash" },
      "",
      "x".repeat(300),
      "Bash(\u001b[31mls)",
      `Edit(${"/a".repeat(250)}/**)`,
      `Read(/${"*/".repeat(31)}x)`,
      `Bash(${"a ".repeat(2_000)})`,
      "__proto__",
      "constructor(x)",
    ]
    const folder = `/srv/${"b".repeat(500)}`
    for (const effect of ["allow", "deny", "ask"]) {
      const { rules, entries } = importSettings({ permissions: { [effect]: hostile } }, { cwd: folder })
      expect(parsePolicy({ rules })).toMatchObject({ ok: true })
      expect(entries).toHaveLength(hostile.length)
      const silent = entries.filter(({ rules: ids, notes }) => ids.length === 0 && notes.length === 0)
      expect(silent).toEqual([])
    }
    expect(imported({ allow: [deep] }).entries[0]?.entry).toBe("a value that is nested too deep")
    expect(imported({ allow: "Bash(ls)", deny: 5 }).notes).toEqual([
      "permissions.deny is not a list, and was left out.",
      "permissions.allow is not a list, and was left out.",
    ])
    expect(importSettings({ permissions: { allow: ["Bash(ls)"] } }, { cwd: "/srv/\u202eapp" }).rules).toEqual([])
  })

  it("[PO30] a denied file can still be read by a command", () => {
    expect(imported({ deny: ["Read(//etc/**)"] }).entries[0]?.notes.join(" ")).toContain("cat can still read")
    expect(imported({ allow: ["Bash(ls:*)", "Bash(ls *)"] }).entries.flatMap(({ notes }) => notes)).toEqual([])
  })
})
