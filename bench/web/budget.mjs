// A budget of the cockpit: what was measured, beside what it must stay within.

/**
 * @typedef {{ name: string, value: number, unit: string, limit?: { kind: "atMost" | "atLeast", value: number } }} Measure
 * @typedef {{ title: string, measures: Measure[] }} Budget
 */

/** @param {string} name @param {number} value @param {string} unit @returns {Measure} */
export function noted(name, value, unit) {
  return { name, value, unit }
}

/** @param {string} name @param {number} value @param {string} unit @param {number} limit @returns {Measure} */
export function atMost(name, value, unit, limit) {
  return { name, value, unit, limit: { kind: "atMost", value: limit } }
}

/** @param {string} name @param {number} value @param {string} unit @param {number} limit @returns {Measure} */
export function atLeast(name, value, unit, limit) {
  return { name, value, unit, limit: { kind: "atLeast", value: limit } }
}

/** A measure without a limit is told, not judged. @param {Measure} measure */
export function isReached({ value, limit }) {
  if (limit === undefined) return true
  return limit.kind === "atMost" ? value <= limit.value : value >= limit.value
}

/** @param {Budget} budget */
export function lines({ title, measures }) {
  return [
    `\n${title}`,
    ...measures.map((measure) => {
      const { name, value, unit, limit } = measure
      const digits = Number.isInteger(value) ? 0 : value < 1 ? 4 : 1
      const told = `  ${name.padEnd(40)} ${value.toFixed(digits).padStart(9)} ${unit.padEnd(4)}`
      if (limit === undefined) return told.trimEnd()
      const must = `must be ${limit.kind === "atMost" ? "≤" : "≥"} ${limit.value}`
      return `${told} ${must}: ${isReached(measure) ? "reached" : "MISSED"}`
    }),
  ]
}

/** @param {readonly number[]} values @param {number} share of the values that lie below it */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** @param {readonly number[]} values */
export function median(values) {
  return quantile(values, 0.5)
}
