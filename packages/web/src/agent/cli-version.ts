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

/** The oldest version seen to refuse what it does not know; nothing between it and 2.1.37 was tried. */
const ANSWERS_SINCE = [2, 1, 100] as const

/** Whether a CLI answers also what it does not know. The oldest say nothing at all then. */
export function refusesUnknown(cliVersion: string | null): boolean {
  return isAtLeast(cliVersion, ANSWERS_SINCE)
}
