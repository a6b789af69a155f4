/** A sum of dollars without the dust of binary fractions: 0.0021, not 0.0021000000000000003. */
export function sumUsd(...amounts: readonly number[]): number {
  return Number(amounts.reduce((sum, amount) => sum + amount, 0).toFixed(10))
}

/** "$1.20", "$0.0021": small amounts are told too, because a turn that cost a tenth of a cent was not free. */
export function costWords(usd: number): string {
  return `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`
}
