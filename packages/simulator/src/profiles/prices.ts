import type { UsageNumbers } from "./profile.ts"

/** Dollars for a million tokens, in and out; a cached token costs a tenth, one written to the cache a quarter more. */
const PRICES: readonly (readonly [RegExp, number, number])[] = [
  [/opus-5/, 4, 20],
  [/fable/, 8, 40],
  [/sonnet-5/, 2, 10],
  [/haiku-5/, 0.1, 0.5],
  [/opus/, 5, 25],
  [/haiku/, 1, 5],
  [/./, 3, 15],
]

export function priceOf(model: string, usage: UsageNumbers): number {
  const [, input, output] = PRICES.find(([name]) => name.test(model)) ?? [/./, 3, 15]
  const perToken = (dollars: number, tokens: number) => (dollars * tokens) / 1_000_000
  return (
    perToken(input, usage.input) +
    perToken(output, usage.output) +
    perToken(input * 0.1, usage.cacheRead) +
    perToken(input * 1.25, usage.cacheWrite)
  )
}

/** As each generation tells them in `modelUsage`. */
export function contextWindowOf(
  model: string,
  generation: 37 | 120 | 325,
): { contextWindow: number; maxOutputTokens: number } {
  const isOpus = /opus/.test(model)
  if (generation === 37) return { contextWindow: 200_000, maxOutputTokens: isOpus ? 32_000 : 64_000 }
  if (generation === 120) {
    return isOpus
      ? { contextWindow: 1_000_000, maxOutputTokens: 64_000 }
      : { contextWindow: 200_000, maxOutputTokens: 32_000 }
  }
  if (/opus-4/.test(model)) return { contextWindow: 1_000_000, maxOutputTokens: 64_000 }
  return /(?:haiku|sonnet)-4/.test(model)
    ? { contextWindow: 200_000, maxOutputTokens: 32_000 }
    : { contextWindow: 1_000_000, maxOutputTokens: 128_000 }
}
