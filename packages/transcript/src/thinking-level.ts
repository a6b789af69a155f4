import { countWords } from "./row-words.ts"

/** How much a model may think, in tokens: no more than this; `null` is the agent's own default, 0 is not at all. */
const LEVELS: readonly (number | null)[] = [null, 0, 4_000, 10_000, 31_999]

/** "Default thinking", "No thinking", "Thinking up to 10k" */
export function thinkingLevelWords(tokens: number | null | undefined): string {
  if (tokens === null || tokens === undefined) return "Default thinking"
  return tokens === 0 ? "No thinking" : `Thinking up to ${countWords(tokens)}`
}

/** The levels there are, and the one it is set to, also when it is another. */
export function thinkingLevels(current: number | null | undefined): readonly (number | null)[] {
  const set = current ?? null
  return LEVELS.includes(set) ? LEVELS : [...LEVELS, set]
}

export function thinkingRequest(tokens: number | null): {
  readonly subtype: string
  readonly max_thinking_tokens: number | null
} {
  return { subtype: "set_max_thinking_tokens", max_thinking_tokens: tokens }
}
