import type { RuleUse } from "@signalbox/policy"
import type { CountedUses, Directory } from "./store/directory.ts"

/**
 * Counts the uses of rules with `atMost`, today and in each session that is in memory. A use counts when it is
 * decided on, so that two requests at once never share the last one; the store has it with the answer it stands for.
 */
export class RuleUses {
  readonly #directory: Pick<Directory, "ruleUses">
  readonly #now: () => Date
  readonly #sessions = new Map<string, Map<string, number>>()
  #today: { readonly day: string; readonly uses: Map<string, number> } = { day: "", uses: new Map() }

  constructor(directory: Pick<Directory, "ruleUses">, now = () => new Date()) {
    this.#directory = directory
    this.#now = now
  }

  async load(): Promise<void> {
    const day = this.#day
    this.#today = { day, uses: new Map(await this.#directory.ruleUses({ day })) }
  }

  async restore(session: string): Promise<void> {
    const uses = await this.#directory.ruleUses({ session })
    if (uses.size > 0) this.#sessions.set(session, new Map(uses))
  }

  /** Nobody asks for this session: its uses are in the store. */
  letGo(session: string): void {
    this.#sessions.delete(session)
  }

  /** In UTC. */
  get #day(): string {
    return this.#now().toISOString().slice(0, 10)
  }

  of(session: string, here = this.#sessions.get(session)): Readonly<Record<string, RuleUse>> {
    const today = this.#usesToday()
    const rules = new Set([...(here?.keys() ?? []), ...today.keys()])
    return Object.fromEntries(
      [...rules].map((rule) => [rule, { session: here?.get(rule) ?? 0, day: today.get(rule) ?? 0 }]),
    )
  }

  /** Also of a session that is not in memory. */
  async read(session: string): Promise<Readonly<Record<string, RuleUse>>> {
    return this.of(session, this.#sessions.get(session) ?? new Map(await this.#directory.ruleUses({ session })))
  }

  /** Returns what the store is to keep. */
  add(session: string, rules: readonly string[]): CountedUses | undefined {
    if (rules.length === 0) return undefined
    const day = this.#day
    const here = this.#sessions.get(session) ?? new Map<string, number>()
    this.#sessions.set(session, here)
    for (const uses of [here, this.#usesToday()]) for (const rule of rules) uses.set(rule, (uses.get(rule) ?? 0) + 1)
    return { rules, day }
  }

  #usesToday(): Map<string, number> {
    const day = this.#day
    // A clock that is set back does not give a day's uses back.
    if (this.#today.day < day) this.#today = { day, uses: new Map() }
    return this.#today.uses
  }
}
