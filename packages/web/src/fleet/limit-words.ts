import { oneLine } from "../design/visible-characters.ts"

/** A plan's window, by its name and by a short one. */
export interface LimitNames {
  readonly name: string
  readonly short: string
}

const LIMITS: Readonly<Record<string, LimitNames>> = {
  five_hour: { name: "5-hour limit", short: "5 h" },
  seven_day: { name: "7-day limit", short: "7 d" },
  seven_day_opus: { name: "7-day Opus limit", short: "7 d" },
  seven_day_sonnet: { name: "7-day Sonnet limit", short: "7 d" },
}

export function limitNames(type: string | undefined): LimitNames {
  if (type === undefined) return { name: "Rate limit", short: "limit" }
  return LIMITS[type] ?? { name: `Limit ${oneLine(type, 40)}`, short: "limit" }
}

/** In percent. Some CLIs tell a share of one, some of a hundred. */
export function limitPercent(used: number): number {
  return Math.round(used * (used <= 1 ? 100 : 1))
}

/** On the wire it is in seconds since 1970. */
export function limitResetMs(resetsAt: number): number {
  return resetsAt * 1000
}
