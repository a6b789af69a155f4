import { isObject } from "@signalbox/protocol/envelope"
import type { Fields, ModelSpending, UsageNumbers } from "../profiles/profile.ts"
import { priceOf } from "../profiles/shared.ts"

const NOTHING: UsageNumbers = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** Keeps the bill: by model and in dollars for the process, in tokens for the turn. */
export class Ledger {
  readonly spending = new Map<string, ModelSpending>()
  #turn: UsageNumbers = NOTHING
  #beforeLastCall: UsageNumbers = NOTHING
  #turnSpending = new Map<string, ModelSpending>()
  #apiMs = 0

  beginTurn(): void {
    this.#turn = NOTHING
    this.#beforeLastCall = NOTHING
    this.#turnSpending = new Map()
  }

  /** The bill stays; the turn's own tokens are not told. */
  forgetTurn(): void {
    this.#turn = NOTHING
  }

  /** As `forgetTurn`, for the last call alone. */
  forgetLastCall(): void {
    this.#turn = this.#beforeLastCall
  }

  /** A call that came to its end. `costUsd` stands in for the price of its tokens. */
  record(model: string, usage: UsageNumbers, options: { isMain: boolean; costUsd?: number }): void {
    const spent = { ...usage, costUsd: options.costUsd ?? priceOf(model, usage) }
    this.spending.set(model, added(this.spending.get(model), spent))
    this.#turnSpending.set(model, added(this.#turnSpending.get(model), spent))
    if (!options.isMain) return
    this.#beforeLastCall = this.#turn
    this.#turn = sum(this.#turn, usage)
  }

  /** Takes over the bill of an earlier process of this session, as its transcript tells it. */
  restore(usage: Readonly<Fields>): void {
    for (const [model, spent] of Object.entries(usage)) {
      const number = (name: string) => (isObject(spent) && typeof spent[name] === "number" ? spent[name] : 0)
      this.spending.set(model, {
        input: number("inputTokens"),
        output: number("outputTokens"),
        cacheRead: number("cacheReadInputTokens"),
        cacheWrite: number("cacheCreationInputTokens"),
        costUsd: number("costUSD"),
      })
    }
  }

  addApiTime(ms: number): void {
    this.#apiMs += ms
  }

  get apiMs(): number {
    return Math.round(this.#apiMs)
  }

  get turn(): UsageNumbers {
    return this.#turn
  }

  get turnSpending(): ReadonlyMap<string, ModelSpending> {
    return this.#turnSpending
  }

  get totalCostUsd(): number {
    return [...this.spending.values()].reduce((total, { costUsd }) => total + costUsd, 0)
  }
}

function sum(a: UsageNumbers, b: UsageNumbers): UsageNumbers {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  }
}

function added(before: ModelSpending | undefined, spent: ModelSpending): ModelSpending {
  if (before === undefined) return spent
  return { ...sum(before, spent), costUsd: before.costUsd + spent.costUsd }
}
