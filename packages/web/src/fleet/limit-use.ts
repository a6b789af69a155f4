import { limitNames, limitPercent, limitWindowsOf } from "@signalbox/transcript"
import { oneLine } from "../design/visible-text.tsx"

/** How much of a plan's window is used, as the agent last told. */
export interface LimitUse {
  readonly name: string
  readonly short: string
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
  const { name, short } = limitNames(most.type)
  return { name: oneLine(name, 60), short, share, resetsAtMs: most.resetsAtMs, toldAt: told.at }
}

/** On the wire it is in seconds since 1970. */
export function limitResetMs(resetsAt: number): number {
  return resetsAt * 1000
}
