import { addTokens, type ModelUse, modelUsesOf, NO_TOKENS, type TokenCount } from "@signalbox/protocol/usage"
import type { Bill, Fields } from "../profiles/profile.ts"
import { priceOf } from "../profiles/shared.ts"

/** Keeps the bill: by model and in dollars for the process, in tokens for the turn. */
export class Ledger implements Bill {
  readonly spending = new Map<string, ModelUse>()
  #turn: TokenCount = NO_TOKENS
  #beforeLastCall: TokenCount = NO_TOKENS
  #turnSpending = new Map<string, ModelUse>()
  #apiMs = 0

  beginTurn(): void {
    this.#turn = NO_TOKENS
    this.#beforeLastCall = NO_TOKENS
    this.#turnSpending = new Map()
  }

  /** The bill stays; the turn's own tokens are not told. */
  forgetTurn(): void {
    this.#turn = NO_TOKENS
  }

  /** As `forgetTurn`, for the last call alone. */
  forgetLastCall(): void {
    this.#turn = this.#beforeLastCall
  }

  /** A call that came to its end. `costUsd` stands in for the price of its tokens. */
  record(model: string, usage: TokenCount, options: { isMain: boolean; costUsd?: number }): void {
    const spent = { ...usage, costUsd: options.costUsd ?? priceOf(model, usage) }
    this.spending.set(model, added(this.spending.get(model), spent))
    this.#turnSpending.set(model, added(this.#turnSpending.get(model), spent))
    if (!options.isMain) return
    this.#beforeLastCall = this.#turn
    this.#turn = addTokens(this.#turn, usage)
  }

  /** Takes over the bill of an earlier process of this session, as its transcript tells it. */
  restore(usage: Readonly<Fields>): void {
    const uses = modelUsesOf({ modelUsage: usage })?.uses ?? {}
    for (const [model, use] of Object.entries(uses)) this.spending.set(model, use)
  }

  addApiTime(ms: number): void {
    this.#apiMs += ms
  }

  get apiMs(): number {
    return Math.round(this.#apiMs)
  }

  get turn(): TokenCount {
    return this.#turn
  }

  get turnSpending(): ReadonlyMap<string, ModelUse> {
    return this.#turnSpending
  }

  get totalCostUsd(): number {
    return [...this.spending.values()].reduce((total, { costUsd }) => total + costUsd, 0)
  }
}

function added(before: ModelUse | undefined, spent: ModelUse): ModelUse {
  if (before === undefined) return spent
  return { ...addTokens(before, spent), costUsd: before.costUsd + spent.costUsd }
}
