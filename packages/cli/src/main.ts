import { CommanderError } from "commander"
import type { CommandContext } from "./base/context.ts"
import { type ExitCode, exitCodeOf, oneLine } from "./base/failure.ts"
import { createProgram } from "./program.ts"
import { endWithReader } from "./terminal/output.ts"

/** The executable. Sets the exit code: 0 done, 1 failed, 2 wrong usage, 3 no hub reachable, 4 not allowed. */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [name, ...rest] = argv
  // Both stand in for `claude`: all their arguments are their own.
  if (name === "sim") return (await import("@signalbox/simulator/command")).main(rest, env)
  const context: CommandContext = { env, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr }
  endWithReader(context)
  try {
    if (name === "shim" && rest[0] !== "--help" && rest[0] !== "-h")
      return await (await import("./hub/shim.ts")).shim(rest, context)
    const program = await createProgram(context, name)
    await program.parseAsync([...argv], { from: "user" })
  } catch (error) {
    process.exitCode = tell(error, context)
  }
}

function tell(error: unknown, { stderr }: CommandContext): ExitCode {
  // Commander has reported it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  stderr.write(`signalbox: ${oneLine(error)}\n`)
  return exitCodeOf(error)
}
