import { createValueStore, useSelected } from "../../app/value-store.ts"

/** How far this page's own answer to an ask has come. */
export type AnswerState =
  | { readonly name: "open" }
  | { readonly name: "sending" }
  | { readonly name: "not-sent"; readonly why: string; readonly again: () => void }
  /** It counted. */
  | { readonly name: "answered" }
  /** Somebody was first, by so many milliseconds where that is known. */
  | { readonly name: "lost"; readonly byMs: number | undefined }
  | { readonly name: "changed" }

const OPEN: AnswerState = { name: "open" }
const MAX_STATES = 200

/** By ask: what became of an answer is told also by the card that comes after the one that sent it. */
const states = createValueStore<ReadonlyMap<string, AnswerState>>(new Map())

export function answerStateOf(id: string): AnswerState {
  return states.get().get(id) ?? OPEN
}

export function setAnswerState(id: string, state: AnswerState): void {
  const others = [...states.get()].filter(([other]) => other !== id)
  states.set(new Map([...others, [id, state] as const].slice(-MAX_STATES)))
}

export function useAnswerState(id: string): AnswerState {
  return useSelected(states, () => answerStateOf(id))
}
