// Every figure is a ratio of two things measured in the same run, in turns, best of five: machines are noisy, and a
// ratio of neighbours is less so.

const ROUNDS = 5

/**
 * @typedef {{ name: string, run: () => unknown }} Contender
 * @typedef {{ name: string, value: number }} Row
 * @typedef {{ title: string, unit: string, must: string, ratio: number, limit: number, reached: boolean, rows: Row[] }} Figure
 * @typedef {Record<string, number>} Sample several measures of one run, the smaller the better
 */

/** CPU time of this process, user and system, in milliseconds. */
function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Best of five for each contender, taken in turns so that a slow moment of the machine hits all of them.
 * @param {Contender[]} contenders
 */
export function bestOf(contenders) {
  const best = new Map(contenders.map(({ name }) => [name, Number.POSITIVE_INFINITY]))
  // The first round warms up and does not count.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, run } of contenders) {
      globalThis.gc?.()
      const start = cpuMs()
      run()
      const took = cpuMs() - start
      if (round > 0) best.set(name, Math.min(best.get(name) ?? took, took))
    }
  }
  return best
}

/**
 * The first contender is measured against the last one, its floor.
 * @param {{ title: string, limit: number, contenders: Contender[] }} options
 * @returns {Figure}
 */
export function figure({ title, limit, contenders }) {
  const best = bestOf(contenders)
  const rows = contenders.map(({ name }) => ({ name, value: best.get(name) ?? Number.NaN }))
  return figureOf({ title, unit: "ms CPU", atMost: limit, rows })
}

/**
 * The first row against the last one. A figure must stay below a ratio or reach one.
 * @param {{ title: string, unit: string, rows: Row[] } & ({ atMost: number } | { atLeast: number })} options
 * @returns {Figure}
 */
export function figureOf(options) {
  const { title, unit, rows } = options
  const ratio = (rows[0]?.value ?? Number.NaN) / (rows.at(-1)?.value ?? Number.NaN)
  if ("atLeast" in options) {
    const limit = options.atLeast
    return { title, unit, must: `≥ ${short(limit)}×`, ratio, limit, reached: ratio >= limit, rows }
  }
  const limit = options.atMost
  return { title, unit, must: `≤ ${short(limit)}×`, ratio, limit, reached: ratio <= limit, rows }
}

/** @param {number} limit */
function short(limit) {
  return String(Number(limit.toFixed(2)))
}

/**
 * The samples of each contender, taken in turns so that a slow moment of the machine hits all of them; after a round
 * that does not count.
 * @param {(() => Promise<Sample>)[]} contenders
 * @param {number} [rounds]
 * @returns {Promise<Sample[][]>}
 */
export async function samplesInTurns(contenders, rounds = ROUNDS) {
  /** @type {Sample[][]} */
  const samples = contenders.map(() => [])
  for (let round = 0; round <= rounds; round++)
    for (const [index, run] of contenders.entries()) {
      const sample = await run()
      if (round > 0) samples[index]?.push(sample)
    }
  return samples
}

/** @param {Sample[]} samples @param {string} measure */
export function best(samples, measure) {
  return Math.min(...samples.map((sample) => sample[measure] ?? Number.NaN))
}

/** @param {Sample[]} samples @param {string} measure */
export function median(samples, measure) {
  const values = samples.map((sample) => sample[measure] ?? Number.NaN).sort((a, b) => a - b)
  return values[Math.floor(values.length / 2)] ?? Number.NaN
}
