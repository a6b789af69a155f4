import { limitWindowsOf } from "@signalbox/transcript"
import { oneLine } from "../design/visible-text.tsx"

/** How much of a plan's window is used, as the agent last told. */
export interface LimitUse extends LimitNames {
  /** In percent. */
  readonly share: number
  readonly resetsAtMs: number | undefined
  readonly toldAt: string
}

interface Told {
  readonly at: string
  readonly message: Readonly<Record<string, unknown>>
}

/** The window that is used most. Undefined when the agent did not say how much, and once that window is over. */
export function limitUseOf(told: Told | undefined, nowMs: number): LimitUse | undefined {
  if (told === undefined) return undefined
  const open = limitWindowsOf(told.message).flatMap(({ type, utilization, resetsAt }) => {
    const resetsAtMs = resetsAt === undefined ? undefined : limitResetMs(resetsAt)
    const isOver = resetsAtMs !== undefined && resetsAtMs <= nowMs
    return utilization === undefined || isOver ? [] : [{ type, utilization, resetsAtMs }]
  })
  const [most] = open.toSorted((a, b) => b.utilization - a.utilization)
  if (most === undefined) return undefined
  const share = Math.min(100, Math.max(0, limitPercent(most.utilization)))
  return { ...limitNames(most.type), share, resetsAtMs: most.resetsAtMs, toldAt: told.at }
}

/** A plan's window, by its name and by a short one. */
interface LimitNames {
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
