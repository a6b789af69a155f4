// Every figure is a ratio of two things measured in the same run, in turns, best of five: machines are noisy, and a
// ratio of neighbours is less so.

const ROUNDS = 5

/**
 * @typedef {{ name: string, run: () => unknown }} Contender
 * @typedef {{ title: string, unit: string, must: string, ratio: number, limit: number, rows: { name: string, value: number }[] }} Figure
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
function bestOf(contenders) {
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
  const ratio = (rows[0]?.value ?? Number.NaN) / (rows.at(-1)?.value ?? Number.NaN)
  return { title, unit: "ms CPU", must: `≤ ${limit}×`, ratio, limit, rows }
}
