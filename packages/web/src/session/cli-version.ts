/** Whether a CLI is this version or a later one. One that is not known is taken for the oldest. */
export function isAtLeast(cliVersion: string | null, least: readonly [number, number, number]): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(cliVersion ?? "")
  if (parts === null) return false
  for (const [index, wanted] of least.entries()) {
    const own = Number(parts[index + 1])
    if (own !== wanted) return own > wanted
  }
  return true
}
