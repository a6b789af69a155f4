import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parsePolicy } from "@signalbox/policy/schemas"
import { describe, expect, it } from "vitest"

const problems = (value: unknown) => {
  const parsed = parsePolicy(value)
  return parsed.ok ? [] : parsed.problems
}
const rule = (fields: Record<string, unknown>) => ({
  rules: [
    { id: "first", effect: "ask" },
    { id: "x", ...fields },
  ],
})

describe("a policy as it is written", () => {
  it("[PO16] a good one is taken, the relay's switch is off unless said", () => {
    expect(parsePolicy({ rules: [] })).toEqual({ ok: true, policy: { rules: [], relayAutoApproval: false } })
    const full = {
      rules: [
        { id: "a", effect: "allow", tool: "Bash", input: { command: ["npm ci", "npm test *"] }, cwd: "/srv/**" },
        { id: "b", effect: "ask", tool: "mcp__x__*", mode: "plan", session: "s", expiresAfterMs: 1000, reason: "r" },
        { id: "c", effect: "deny", input: { command: "* > /etc/*", file_path: "**/.env" }, message: "no" },
      ],
      relayAutoApproval: true,
    }
    expect(parsePolicy(full)).toEqual({ ok: true, policy: full })
  })

  it.each([
    [{ effect: "allow", tools: "Bash" }, 'rule 2 (x): there is no field "tools"'],
    [{ effect: "permit" }, 'rule 2 (x): effect: must be "allow" or "deny" or "ask"'],
    [{ effect: "deny", tool: "Bash(ls)" }, 'rule 2 (x): tool: must be a name alone: write Bash(ls) as "tool": "Bash"'],
    [{ effect: "deny", tool: "Bash ls" }, "rule 2 (x): tool: must be a name alone"],
    [{ effect: "ask", hours: { from: "09:00", to: "09:00" } }, "rule 2 (x): hours: from and to are the same time"],
    [{ effect: "ask", hours: { from: "00:00", to: "00:00" } }, "leave hours out for all day"],
    [{ effect: "ask", input: { command: 7 } }, "rule 2 (x): input.command: must be text, or a list of texts"],
    [{ effect: "allow", tool: "Ba*" }, "rule 2 (x): tool: must be a tool's exact name"],
    [
      { effect: "allow", input: { command: "npm ci && npm test" } },
      "rule 2 (x): input.command: allows nothing because",
    ],
    [{ effect: "allow", input: { command: "A=1 npm ci" } }, "allows nothing because it sets a variable first"],
    [{ effect: "allow", input: { command: "" } }, "must not be empty"],
    [{ effect: "allow", input: { file_path: "/srv/../etc" } }, "rule 2 (x): input.file_path: must not contain .."],
    [{ effect: "allow", input: { file_path: "~/x" } }, "begin with ~"],
    [{ effect: "allow", cwd: "work" }, "rule 2 (x): cwd: must begin with / or **"],
    [{ effect: "allow", input: { name: "a\u200bb" } }, "cannot be seen"],
    [{ effect: "deny", input: { command: "a*".repeat(33) } }, "must have at most 32 stars"],
    [{ effect: "deny", input: { name: "a".repeat(1025) } }, "must have at most 1024 characters"],
    [{ effect: "allow", expiresAfterMs: 5 }, "rule 2 (x): expiresAfterMs: only an ask expires"],
    [{ effect: "ask", maxExtensions: 2 }, "rule 2 (x): maxExtensions: only what expires can be extended"],
    [{ effect: "ask", expiresAfterMs: 5, maxExtensions: 101 }, "rule 2 (x): maxExtensions: must be at most 100"],
    [{ effect: "ask", expiresAfterMs: 0 }, "rule 2 (x): expiresAfterMs: must be at least 1"],
    [{ effect: "ask", expiresAfterMs: 1.5 }, "rule 2 (x): expiresAfterMs: must be a whole number"],
    [{ effect: "ask", message: "m" }, "rule 2 (x): message: only a denial"],
    [{ effect: "ask", id: "first" }, "rule 2 (first): id: is used by a rule before it"],
  ])("[PO16] %j is refused, saying which rule and what is wrong", (fields, expected) => {
    expect(problems(rule(fields)).join("\n")).toContain(expected)
  })

  it("[PO16] all problems are told at once, also of what is no policy at all", () => {
    expect(problems({ rules: [{ effect: "allow" }, { id: "b", effect: "no" }] })).toHaveLength(2)
    expect(problems({ rules: [{ effect: "allow" }] })[0]).toBe("rule 1: id: is missing: must be text")
    expect(problems("rubbish")[0]).toBe("the policy: must be an object")
    expect(problems({})).toEqual(["rules: is missing: must be a list"])
    expect(problems({ rules: [], relayAutoApproval: "yes" })[0]).toBe("relayAutoApproval: must be true or false")
    expect(
      problems({
        rules: [
          { id: "a", effect: "no" },
          { id: "a", effect: "ask", tool: "Read(x)" },
        ],
      }),
    ).toEqual([
      'rule 1 (a): effect: must be "allow" or "deny" or "ask"',
      "rule 2 (a): id: is used by a rule before it",
      expect.stringMatching(/^rule 2 \(a\): tool: must be a name alone/),
    ])
    expect(problems({ rules: Array.from({ length: 1001 }, (_, id) => ({ id: `${id}`, effect: "ask" })) })[0]).toContain(
      "at most 1000 rules",
    )
  })

  it("[PO16] of very many problems the first hundred are told, and how many more there are", () => {
    const input = Object.fromEntries(Array.from({ length: 30 }, (_, field) => [`${field}`, 0]))
    const told = problems({ rules: Array.from({ length: 1000 }, () => ({ input })) })
    expect(told).toHaveLength(101)
    expect(told[100]).toBe("and 31900 more")
  })

  it("[PO16] whole days can be said, and a policy that was in force before is taken", () => {
    expect(problems(rule({ effect: "ask", hours: { from: "00:00", to: "00:00", days: ["sat"] } }))).toEqual([])
    const before = rule({ effect: "deny", tool: "Bash(ls)" })
    expect(parsePolicy(before, { isKept: true })).toMatchObject({ ok: true })
    expect(parsePolicy({ rules: 5 }, { isKept: true })).toMatchObject({ ok: false })
  })

  it("[PO17] the main entry loads no schema library", () => {
    const source = join(import.meta.dirname, "..", "src")
    const seen = new Set<string>()
    const visit = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      const text = readFileSync(join(source, file), "utf8")
      for (const [, isType, from] of text.matchAll(/^(?:import|export) (type )?[^"]*from "([^"]+)"/gms)) {
        if (isType !== undefined || from === undefined) continue
        if (from.startsWith("./")) visit(from.slice(2))
        else seen.add(from)
      }
    }
    visit("index.ts")
    expect([...seen].filter((name) => !name.endsWith(".ts"))).toEqual(["@signalbox/protocol", "unbash"])
    expect(seen.has("schemas.ts")).toBe(false)
  })
})
