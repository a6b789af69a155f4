import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Rule } from "@signalbox/policy"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { evaluate } from "../src/evaluate.ts"
import { type Mutation, openMutants } from "./mutants.ts"
import { CONTEXT, numbered } from "./subject.ts"

/** A command that rules must not allow, and the check that alone stands in its way. */
interface Attack {
  /** The name of the mutation without which it is not allowed. */
  readonly check: string
  /** Patterns that are allowed, each in a rule of its own. */
  readonly rules?: readonly string[]
  /** Patterns that are denied, where all of Bash is allowed. */
  readonly denied?: readonly string[]
  readonly command: string
  readonly reason: string
  readonly cwd?: string
  readonly tool?: string
  /** The field of the tool's input, where it is not the command. */
  readonly field?: string
}

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8"))
const ATTACKS: readonly Attack[] = read("attacks.json")
const MUTATIONS: Readonly<Record<string, readonly Mutation[]>> = read("mutations.json")

function rulesOf({ rules = [], denied, cwd, tool = "Bash", field = "command" }: Attack): Rule[] {
  const where = cwd === undefined ? { tool } : { tool, cwd }
  const allowing = rules.map((command) => ({ effect: "allow" as const, ...where, input: { [field]: command } }))
  if (denied === undefined) return numbered(allowing)
  const denying = denied.map((command) => ({ effect: "deny" as const, ...where, input: { [field]: command } }))
  return numbered([...denying, { effect: "allow", ...where }])
}

function effectOf(attack: Attack, engine: typeof evaluate): string {
  const { command, tool = "Bash", field = "command" } = attack
  const policy = { rules: rulesOf(attack), relayAutoApproval: false }
  return engine(policy, { tool, input: { [field]: command } }, CONTEXT).effect
}

describe("attacks", () => {
  const engines = new Map<string, typeof evaluate>()
  let mutants: Awaited<ReturnType<typeof openMutants>>

  beforeAll(async () => {
    mutants = await openMutants()
    engines.set("", await mutants.load([]))
    for (const [name, mutation] of Object.entries(MUTATIONS)) engines.set(name, await mutants.load(mutation))
  })
  afterAll(() => mutants.close())

  const engine = (name: string) => {
    const found = engines.get(name)
    if (found === undefined) throw new Error(`there is no mutation ${name}`)
    return found
  }

  it("[PO25] there are at least 300, each another one and each with a reason; each mutation has one", () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(300)
    expect(new Set(ATTACKS.map(({ check, command }) => `${check} ${command}`)).size).toBe(ATTACKS.length)
    expect(ATTACKS.filter(({ reason }) => reason.length < 8)).toEqual([])
    expect([...new Set(ATTACKS.map(({ check }) => check))].sort()).toEqual(Object.keys(MUTATIONS).sort())
  })

  it.each(ATTACKS.map((attack) => [attack.command.slice(0, 200), attack.check, attack] as const))(
    "[PO25] %j is not allowed, and is by the mutation %s",
    (_command, check, attack) => {
      const effect = effectOf(attack, engine(""))
      expect([attack.reason, effect === "allow"]).toEqual([attack.reason, false])
      expect([attack.reason, effectOf(attack, engine(check))]).toEqual([attack.reason, "allow"])
    },
  )
})
