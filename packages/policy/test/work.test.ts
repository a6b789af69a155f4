import { evaluate, type Policy, type PolicyRequest, prepare } from "@signalbox/policy"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Work } from "../src/matching.ts"
import { CONTEXT, type Draft, denying, numbered } from "./subject.ts"

/** The work of `evaluate` without a bound, on a policy that was read before. */
function spentOn(drafts: readonly Draft[], request: PolicyRequest): number {
  const policy: Policy = { rules: numbered(drafts), relayAutoApproval: false }
  prepare(policy.rules)
  const work = new Work(Number.POSITIVE_INFINITY)
  evaluate(policy, request, CONTEXT, work)
  return work.spent
}

const bashOf = (command: unknown): PolicyRequest => ({ tool: "Bash", input: { command } })

/** Each is made as long as one likes; whoever wrote them wants rules to be tried again and again on the same text. */
const HOSTILE: readonly (readonly [name: string, request: (size: number) => PolicyRequest])[] = [
  ["a shell within a command", (size) => bashOf(`bash -c "${"rm -r ".repeat(size / 6)}"`)],
  ["words behind a runner", (size) => bashOf("sudo ".repeat(size / 5))],
  ["commands in a row", (size) => bashOf("rm -r;".repeat(size / 6))],
  ["quoted commands", (size) => bashOf(`eval ${"'rm -r x' ".repeat(size / 10)}`)],
  ["commands in options", (size) => bashOf(`env ${'"-S rm -r" '.repeat(size / 11)}`)],
  ["variables", (size) => bashOf(`sudo ${"$a rm ".repeat(size / 6)}`)],
  ["slashes", (size) => bashOf(`sudo ${"/rm ".repeat(size / 4)}`)],
  ["patterns for file names", (size) => bashOf(`sudo ${"r?m -r ".repeat(size / 7)}`)],
  ["open quotes", (size) => bashOf("bash -c '".repeat(size / 9))],
  ["a list of commands", (size) => bashOf(Array.from({ length: size / 16 }, (_, index) => `bash -c 'rm ${index}'`))],
  ["a word that takes a command, again and again", (size) => bashOf(`${"time -p ".repeat(size / 8)}# x`)],
  ["a script of sed", (size) => bashOf(`sed ${"s".repeat(size)}`)],
  ["brackets in a script of sed", (size) => bashOf(`sed s/${"[".repeat(size)}/`)],
  ["backslashes", (size) => bashOf(`${"\\".repeat(size)}'`)],
  ["functions in functions", (size) => bashOf(`${"function a ".repeat(size / 11)}{ ls;}`)],
  ["options before verbs", (size) => bashOf("git -C . ".repeat(size / 9))],
  ["commands with options before verbs", (size) => bashOf("git -C . push;".repeat(size / 14))],
  ["runners that replace words", (size) => bashOf("xargs -I ls ".repeat(size / 12))],
  ["files as input", (size) => bashOf("rm<x;".repeat(size / 5))],
  ["groups with files as input", (size) => bashOf("{ rm; } <x;".repeat(size / 11))],
  ["letters of options", (size) => bashOf(`tar -${"x".repeat(size)}`)],
  ["shells that are fed", (size) => bashOf("echo rm y | sh;".repeat(size / 15))],
  ["a program with a long name", (size) => bashOf(`${"1".repeat(size)}a`)],
  ["short commands", (size) => bashOf("a;".repeat(size / 2))],
  ["programs in capitals", (size) => bashOf("SUDO RM ".repeat(size / 8))],
  ["commands in capitals", (size) => bashOf("RM -r;".repeat(size / 6))],
  ["shells in capitals", (size) => bashOf(`BASH -c "${"BASH -c 'RM x';".repeat(size / 15)}"`)],
  ["aliases", (size) => bashOf(`alias ${"a=rm ".repeat(size / 5)}`)],
  ["a path", (size) => ({ tool: "Edit", input: { file_path: "a/".repeat(size / 2) } })],
  ["text", (size) => ({ tool: "Write", input: { content: "secre".repeat(size / 5) } })],
  ["text of one letter", (size) => ({ tool: "Write", input: { content: "a".repeat(size) } })],
  ["a list", (size) => ({ tool: "Write", input: { content: Array.from({ length: size / 4 }, () => "a") } })],
  ["an object", (size) => ({ tool: "Write", input: { content: { a: Array.from({ length: size / 4 }, () => 1) } } })],
]

const DRAFTS: readonly Draft[] = [
  denying(["rm -rf *", "* x *", "rm * -r * y", `${"a*".repeat(31)}b`, "$x *", `${"rm -r ".repeat(100)}z`]),
  { effect: "deny", input: { file_path: [`${"**/a/".repeat(16)}b`, `${"a/".repeat(400)}b`, "**/*a*/**/b"] } },
  { effect: "deny", input: { content: ["*secret*", `${"*a".repeat(31)}*b`, `*${"a".repeat(900)}b*`] } },
]

describe("the work of an evaluation", () => {
  it.each(HOSTILE)("[PO10] grows in proportion to the input: %s", (_, request) => {
    const small = spentOn(DRAFTS, request(1980))
    const large = spentOn(DRAFTS, request(7920))
    expect(large).toBeLessThan(4.5 * small + 100_000)
  })

  it("[PO10] grows in proportion to the input, whatever it is made of", () => {
    const piece = fc.constantFrom(
      "rm ",
      "-r ",
      "sudo ",
      "bash -c ",
      "'",
      '"',
      "\\",
      ";",
      "$(",
      ")",
      "`",
      "$x",
      "/",
      "*",
      "a",
    )
    fc.assert(
      fc.property(fc.array(piece, { minLength: 20, maxLength: 60 }), (pieces) => {
        const unit = pieces.join("")
        const times = (count: number) => spentOn(DRAFTS, bashOf(unit.repeat(count)))
        const fits = Math.floor(8000 / unit.length / 4)
        return times(fits * 4) <= 6 * times(fits) + 200_000
      }),
      { numRuns: 60 },
    )
  })

  it.each(HOSTILE)("[PO10] grows in proportion to the rules: %s", (_, request) => {
    const few = spentOn(DRAFTS, request(3960))
    const many = spentOn(Array.from({ length: 10 }, () => DRAFTS).flat(), request(3960))
    expect(many).toBeLessThanOrEqual(10 * few)
  })

  it.each(HOSTILE)("[PO20] stops at a bound, and a person decides: %s", (_, request) => {
    const rules = numbered(Array.from({ length: 500 }, () => DRAFTS).flat())
    const work = new Work()
    const { effect, reason, rule } = evaluate(
      { rules: [...rules, { id: "all", effect: "allow" }], relayAutoApproval: false },
      request(65_536),
      CONTEXT,
      work,
    )
    expect(effect).toBe("ask")
    expect(work.spent).toBeLessThan(8_000_000)
    expect(rule ?? reason).toMatch(/^r\d+$|too much work/)
  })

  it.each(HOSTILE)("[PO20] takes no time that nobody counts, and throws nothing: %s", (_, request) => {
    const rules = numbered([
      ...DRAFTS,
      { effect: "allow", tool: "Bash", input: { command: ["* *", "sed *", "git *", "xargs *", "rm *"] } },
    ])
    const work = new Work()
    const before = process.cpuUsage()
    const { reason } = evaluate({ rules, relayAutoApproval: false }, request(8000), CONTEXT, work)
    const { user } = process.cpuUsage(before)
    expect(reason).not.toContain("failed")
    // A loaded machine is slower than a bench, and a text that is gone through again and again much slower still.
    expect(user / 1000).toBeLessThan(400)
  })

  it("[PO20] whatever goes wrong within, a person decides", () => {
    const input = new Proxy<Record<string, unknown>>(
      {},
      {
        get() {
          throw new Error("broken")
        },
      },
    )
    const rules = numbered([{ effect: "allow" }, { effect: "deny", input: { command: "rm *" } }])
    const { effect, reason } = evaluate({ rules, relayAutoApproval: false }, { tool: "Bash", input }, CONTEXT)
    expect([effect, reason]).toEqual(["ask", "Checking this request against the rules failed, so a person decides."])
  })

  it("[PO20] an input of 32 MB is not read through, nor one that is nested without end", () => {
    const rules = numbered([
      { effect: "deny", input: { command: "rm *" } },
      { effect: "deny", input: { file_path: "/etc/**" } },
      { effect: "deny", input: { content: "*secret*" } },
      { effect: "deny", input: { url: "https://*.example.com/*" } },
      { effect: "allow" },
    ])
    const long = "a/".repeat(16_000_000)
    let deep: unknown = "x"
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    for (const value of [long, [long], { a: long }, deep, { a: deep }]) {
      for (const field of ["command", "file_path", "content", "url"]) {
        const work = new Work()
        const { effect } = evaluate(
          { rules, relayAutoApproval: false },
          { tool: "T", input: { [field]: value } },
          CONTEXT,
          work,
        )
        expect([field, effect]).toEqual([field, "ask"])
        expect(work.spent).toBeLessThan(3_000_000)
      }
    }
  })

  it("[PO20] a thousand ordinary rules on an ordinary command are far from the bound", () => {
    const drafts = Array.from({ length: 1000 }, (_, index) => denying(`tool${index} --force *`))
    expect(spentOn(drafts, bashOf('cd /srv && npm run build -- --mode production | tee "build log.txt"'))).toBeLessThan(
      400_000,
    )
    expect(spentOn(drafts, bashOf(`sudo -u app timeout 60 find . -name '*.ts' -exec grep -l x {} +`))).toBeLessThan(
      600_000,
    )
  })
})

it("[PO20] a long list of short paths or addresses is asked about: each takes time, however short it is", () => {
  const list = (length: number) => Array.from({ length }, (_, index) => index.toString(36))
  for (const [field, few, many] of [
    ["file_path", 500, 10_000],
    ["url", 2_000, 40_000],
  ] as const) {
    const pattern = field === "url" ? "https://example.com/*" : "/etc/*"
    const policy: Policy = {
      rules: numbered([{ effect: "deny", input: { [field]: pattern } }]),
      relayAutoApproval: false,
    }
    const reasonFor = (length: number) =>
      evaluate(policy, { tool: "X", input: { [field]: list(length) } }, CONTEXT).reason
    expect(reasonFor(few)).toBe("No rule covers this.")
    expect(reasonFor(many)).toContain("too much work")
  }
})
