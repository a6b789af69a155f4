/** One step of a small generator (mulberry32) whose state is a value, for functions that are to stay pure. */
export function draw(state: number): { state: number; number: number } {
  const next = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(next ^ (next >>> 15), next | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return { state: next, number: ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000 }
}
