import type { Failure, Spoken } from "./spoken.ts"

/**
 * What a CLI does about a call that failed. `ask-whole`: the same again, to be answered in one piece instead of a stream.
 * `continue`: the model is told that its words were cut off, and goes on from there.
 */
export type Mending = "retry" | "ask-whole" | "continue" | "give-up"

/** Whether the reply broke off on its way, as against a call that was answered with an error. */
export function isInStream(failure: Failure): boolean {
  return failure.kind === "cut" || (failure.kind === "http" && failure.status === 0)
}

/** By how far the reply had come: a block that was whole has been passed on, and cannot be taken back. */
export function mendingOf(generation: 37 | 120 | 325, { failure, progress, isWhole }: Spoken): Mending {
  if (failure === undefined || !isInStream(failure) || isWhole || progress === "nothing") return "retry"
  if (generation === 37) return "ask-whole"
  if (progress === "blocks") return generation === 120 ? "give-up" : "continue"
  if (generation === 120) return "ask-whole"
  return failure.kind === "cut" || progress === "begun" ? "retry" : "ask-whole"
}
