import { statusOf } from "../messages-api/json-answers.ts"
import type { Failure } from "./spoken.ts"

const REPEATED = 3

/** Nobody is told of another try after a reply that began well and ended in an error. */
export function isQuiet(failure: Failure): boolean {
  return failure.kind === "http" && failure.status === 0
}

/** How often one call was tried again, and may be. */
export class Tries {
  /** Those that the host was told of. */
  made = 0
  allowed: number
  #quiet = 0

  constructor(allowed: number) {
    this.allowed = allowed
  }

  /** Whether there may be one more; then it counts. A quiet one leaves fewer of the others. */
  another(failure: Failure): boolean {
    if (!isQuiet(failure)) return ++this.made <= this.allowed
    this.#quiet++
    return --this.allowed >= -1
  }

  /** After the last one: what failed within a stream counts as the error that it named. */
  final(failure: Failure): Failure {
    if (failure.kind !== "http") return failure
    const isRepeated = this.made + this.#quiet >= REPEATED
    return { ...failure, status: failure.status || statusOf(failure.type), isRepeated }
  }
}
