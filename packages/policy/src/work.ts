/**
 * One evaluation may do this much. A unit is about one character compared and takes at most some five billionths of a
 * second, so that no request can hold up the program that asks. `npm run bench` measures it.
 */
const WORK_BUDGET = 4_000_000

/** Thrown by `spend` and caught by `evaluate`: the request takes more work than one evaluation may do. */
export class OverBudget extends Error {}

/** Counts what an evaluation does. Everything that looks at a request or compiles a pattern spends. */
export class Work {
  readonly #budget: number
  #spent = 0

  constructor(budget = WORK_BUDGET) {
    this.#budget = budget
  }

  get spent(): number {
    return this.#spent
  }

  spend(units: number): void {
    this.#spent += units
    if (this.#spent > this.#budget) throw new OverBudget("the request takes too much work to check")
  }
}
