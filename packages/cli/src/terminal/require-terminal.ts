import type { CommandContext } from "../command-context.ts"
import { usageError } from "../failure.ts"

/** For what is drawn full screen and steered by keys. */
export function requireTerminal({ stdin, stdout }: CommandContext, id = "ID"): void {
  if (stdin.isTTY && stdout.isTTY) return
  throw usageError(`attach needs a terminal; without one there is: signalbox log ${id} --follow`)
}
