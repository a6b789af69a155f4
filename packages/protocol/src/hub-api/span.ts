const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `30d`, `12h` or `15m` in milliseconds. Undefined if it is no such text. */
export function spanMs(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0)
}
