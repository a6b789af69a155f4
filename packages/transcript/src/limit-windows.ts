import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { given, numberOf } from "./entry.ts"

/** One of the windows that a plan's limit is counted in. */
export interface LimitWindow {
  /** `five_hour`, `seven_day`, …; undefined where the agent does not say which. */
  readonly type?: string
  readonly status?: string
  /** From 0 to 1. */
  readonly utilization?: number
  /** In seconds since 1970. */
  readonly resetsAt?: number
}

/**
 * The windows that a `rate_limit_event` tells of. A CLI such as 2.1.325 lists each with its use; an older one, and some
 * events of a newer, tell only of the window that decides, and of its use only near the limit.
 */
export function limitWindowsOf(message: unknown): readonly LimitWindow[] {
  const info = fieldOf(message, "rate_limit_info")
  if (info === undefined) return []
  const listed = Object.entries(fieldOf(info, "unifiedWindows") ?? {}).flatMap(([type, window]) =>
    isObject(window) ? [windowOf(type, window)] : [],
  )
  const deciding = windowOf(textOf(info, "rateLimitType"), info)
  const isListed = listed.some(({ type }) => type === deciding.type)
  if (!isListed) return [...listed, deciding]
  return listed.map((window) => (window.type === deciding.type ? { ...deciding, ...window } : window))
}

function windowOf(type: string | undefined, fields: Readonly<Record<string, unknown>>): LimitWindow {
  return given({
    type,
    status: textOf(fields, "status"),
    utilization: numberOf(fields, "utilization"),
    resetsAt: numberOf(fields, "resetsAt"),
  })
}
