/** Versions by which the wire is dated: SDK 0.1.77 / CLI 2.0.77, SDK 0.2.37 / CLI 2.1.37, SDK 0.3.325 / CLI 2.1.325. */
export const GENERATIONS = ["2.0.77", "2.1.37", "2.1.325"] as const
export type Generation = (typeof GENERATIONS)[number]

export function byGeneration<Key extends string>(
  keys: readonly Key[],
  existsIn: (key: Key, generation: Generation) => boolean,
): Record<Generation, Key[]> {
  const inGeneration = (generation: Generation) => keys.filter((key) => existsIn(key, generation))
  return { "2.0.77": inGeneration("2.0.77"), "2.1.37": inGeneration("2.1.37"), "2.1.325": inGeneration("2.1.325") }
}

export function isSince(first: Generation, generation: Generation): boolean {
  return GENERATIONS.indexOf(generation) >= GENERATIONS.indexOf(first)
}
