import { it } from "vitest"
import { cockpitChecksNow } from "../gate.ts"

/** A check of the cockpit, by its id: `[S-1] …`. */
export function check(title: string, run: () => Promise<void>): void {
  if (cockpitChecksNow(title)) it(title, run, 120_000)
}
