/** Where a fault happens: at the lines of one kind, counted from 1, as the agent would write them; 0 is before all. */
export interface Place {
  /** `line` is any line; else a message's type. */
  readonly type: string
  readonly subtype?: string
  readonly from: number
  readonly to: number
  /** From 0 to 1: of the lines that fit, how many are hit. Which ones, the seed decides. */
  readonly chance: number
  readonly after: boolean
}

/** Signals that end a process or stop it: another would be no fault. */
export const SIGNALS = [
  "SIGKILL",
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
  "SIGQUIT",
  "SIGABRT",
  "SIGSEGV",
  "SIGBUS",
  "SIGILL",
  "SIGFPE",
  "SIGSTOP",
] as const
export type FaultSignal = (typeof SIGNALS)[number]

/** What goes wrong beside the line at which it happens. */
export type SideMishap =
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "kill"; readonly signal: FaultSignal }
  /** Nothing is written and nothing read. */
  | { readonly do: "hang"; readonly ms: number }
  /** The connection breaks off. */
  | { readonly do: "close" }
  | { readonly do: "ignore-term" }
  | { readonly do: "rubbish"; readonly bytes: number }
  | { readonly do: "long"; readonly bytes: number }
  | { readonly do: "flood"; readonly perSecond: number; readonly seconds: number }

/** What goes wrong with the line itself. */
export type LineMishap =
  | { readonly do: "half" }
  | { readonly do: "duplicate"; readonly copies: number }
  /** The line, and all that come after it, wait. */
  | { readonly do: "delay"; readonly ms: number }
  /** The line waits, and others overtake it. */
  | { readonly do: "late"; readonly ms: number }

export type Mishap = SideMishap | LineMishap

const OF_LINES: readonly Mishap["do"][] = ["half", "duplicate", "delay", "late"]

export function isOfLine(mishap: Mishap): mishap is LineMishap {
  return OF_LINES.includes(mishap.do)
}

export interface Fault {
  /** As it was written. */
  readonly spec: string
  readonly mishap: Mishap
  readonly at: Place
}
