import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { limitName } from "../transcript/rows/failure-words.ts"

/** How much of a plan's window is used, as the agent last told. */
export interface LimitUse {
  readonly name: string
  readonly short: string
  /** In percent. */
  readonly share: number
  readonly resetsAtMs: number | undefined
  readonly toldAt: string
}

const SHORT: Readonly<Record<string, string>> = {
  five_hour: "5 h",
  seven_day: "7 d",
  seven_day_opus: "7 d",
  seven_day_sonnet: "7 d",
}

interface Told {
  readonly at: string
  readonly message: Readonly<Record<string, unknown>>
}

/** Undefined when it did not say how much, and once that window is over: then nothing is known of the next. */
export function limitUseOf(told: Told | undefined, nowMs: number): LimitUse | undefined {
  const info = fieldOf(told?.message, "rate_limit_info")
  const used = info?.["utilization"]
  if (told === undefined || typeof used !== "number") return undefined
  const resetsAt = info?.["resetsAt"]
  // Seconds since 1970, as the wire has it.
  const resetsAtMs = typeof resetsAt === "number" ? resetsAt * 1000 : undefined
  if (resetsAtMs !== undefined && resetsAtMs <= nowMs) return undefined
  const type = textOf(info, "rateLimitType")
  const percent = Math.round(used * (used <= 1 ? 100 : 1))
  return {
    name: limitName(type),
    short: SHORT[type ?? ""] ?? "limit",
    share: Math.min(100, Math.max(0, percent)),
    resetsAtMs,
    toldAt: told.at,
  }
}
