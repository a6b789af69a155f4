import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { type LimitNames, limitNames, limitPercent, limitResetMs } from "../fleet/limit-words.ts"

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

/** Undefined when it did not say how much, and once that window is over: then nothing is known of the next. */
export function limitUseOf(told: Told | undefined, nowMs: number): LimitUse | undefined {
  const info = fieldOf(told?.message, "rate_limit_info")
  const used = info?.["utilization"]
  if (told === undefined || typeof used !== "number") return undefined
  const resetsAt = info?.["resetsAt"]
  const resetsAtMs = typeof resetsAt === "number" ? limitResetMs(resetsAt) : undefined
  if (resetsAtMs !== undefined && resetsAtMs <= nowMs) return undefined
  const share = Math.min(100, Math.max(0, limitPercent(used)))
  return { ...limitNames(textOf(info, "rateLimitType")), share, resetsAtMs, toldAt: told.at }
}
