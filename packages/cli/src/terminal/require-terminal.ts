import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { usageError } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"

interface Wanted extends DataOption {
  readonly id?: string
}

/** For what is drawn full screen and steered by keys. */
export function requireTerminal({ stdin, stdout, env }: CommandContext, wanted: Wanted = {}): void {
  if (stdin.isTTY && stdout.isTTY) return
  const log = nextCommand(`log ${wanted.id ?? "ID"} --follow`, wanted, env)
  throw usageError(`attach needs a terminal; without one there is: ${log}`)
}
