const STEPS: readonly (readonly [number, string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
]

/** How long ago, in the largest unit that fits: `3m`. */
export function ago(moment: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(moment)) / 1000))
  for (const [size, unit] of STEPS) if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`
  return "now"
}

/** The time of day where the reader is. */
export function timeOfDay(moment: string): string {
  const date = new Date(moment)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":")
}
