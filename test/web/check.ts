import { it } from "vitest"
import { cockpitChecksNow, isWholeRun } from "../gate.ts"

/** A check of the cockpit, by its id: `[S-1] …`. */
export function check(title: string, run: () => Promise<void>, limitMs = 120_000): void {
  if (cockpitChecksNow(title)) it(title, run, limitMs)
}

/** A way through the cockpit beyond its numbered checks: only `test:full` goes it. */
export function journey(title: string, run: () => Promise<void>): void {
  if (isWholeRun) it(title, run, 240_000)
}
