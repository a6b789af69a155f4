/** Small amounts are told too: a turn that cost a tenth of a cent was not free. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 4 : 2)}`
}
