import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { Check } from "../src/checks.ts"
import { judge } from "../src/evaluate.ts"
import { CONTEXT, numbered } from "./subject.ts"

/** A command that the rules must not allow, and the check that alone stands in its way. */
interface Attack {
  readonly check: Check
  /** Patterns that are allowed, each in a rule of its own. */
  readonly rules: readonly string[]
  readonly command: string
  readonly reason: string
  readonly cwd?: string
  readonly tool?: string
}

const ATTACKS: readonly Attack[] = JSON.parse(readFileSync(join(import.meta.dirname, "attacks.json"), "utf8"))

function effectOf({ rules, command, cwd, tool = "Bash" }: Attack, off: readonly Check[]): string {
  const drafts = rules.map((pattern) => ({
    effect: "allow" as const,
    tool,
    input: { command: pattern },
    ...(cwd === undefined ? {} : { cwd }),
  }))
  return judge(numbered(drafts), { tool, input: { command } }, CONTEXT, { off: new Set(off) }).effect
}

describe("attacks", () => {
  it("[PO25] there are at least 300, each another one and each with a reason", () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(300)
    expect(new Set(ATTACKS.map(({ check, command }) => `${check} ${command}`)).size).toBe(ATTACKS.length)
    expect(ATTACKS.filter(({ reason }) => reason.length < 8)).toEqual([])
  })

  it.each(ATTACKS.map((attack) => [attack.command.slice(0, 200), attack.check, attack] as const))(
    "[PO25] %j is asked about, and is not without the check %s",
    (_command, check, attack) => {
      expect([attack.reason, effectOf(attack, [])]).toEqual([attack.reason, "ask"])
      expect([attack.reason, effectOf(attack, [check])]).toEqual([attack.reason, "allow"])
    },
  )
})
