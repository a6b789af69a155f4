import type { ReplayStep } from "./replay-schema.ts"

/** Where in a replay the host's requests and the replies to them stand, and which of them are done with. */
export class ReplayIndex {
  readonly #requests = new Map<string, number[]>()
  readonly #replies = new Map<string, number[]>()
  readonly #done = new Set<number>()

  constructor(steps: readonly ReplayStep[]) {
    steps.forEach((step, at) => {
      if ("request" in step) listIn(this.#requests, step.request.subtype).push(at)
      if ("reply" in step) listIn(this.#replies, step.to).push(at)
    })
  }

  /** A request of this kind that has not had its turn yet. */
  requestFor(subtype: string): number | undefined {
    return this.#requests.get(subtype)?.find((at) => !this.#done.has(at))
  }

  /** The replies to it that were not given yet. */
  repliesTo(name: string): number[] {
    return (this.#replies.get(name) ?? []).filter((at) => !this.#done.has(at))
  }

  finish(at: number): void {
    this.#done.add(at)
  }

  isDone(at: number): boolean {
    return this.#done.has(at)
  }
}

function listIn(lists: Map<string, number[]>, name: string): number[] {
  const known = lists.get(name)
  if (known !== undefined) return known
  const list: number[] = []
  lists.set(name, list)
  return list
}
