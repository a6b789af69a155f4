import { Command, CommanderError } from "commander"
import { addUp } from "./commands/up.ts"
import { UsageError } from "./failure.ts"

export interface CommandContext {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

/** Exit codes: 0 done, 1 failed, 2 wrong usage. */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const context: CommandContext = { env, stdout: process.stdout, stderr: process.stderr }
  const program = new Command("signalbox")
    .description(
      "A control plane for Claude Code agents: watch them, steer them, give or refuse permission, from one place.",
    )
    .exitOverride()
    .showHelpAfterError("(see signalbox --help)")
  addUp(program, context)
  try {
    await program.parseAsync([...argv], { from: "user" })
  } catch (error) {
    process.exitCode = tell(error, context)
  }
}

function tell(error: unknown, { stderr }: CommandContext): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const message = error instanceof Error ? error.message : String(error)
  stderr.write(`signalbox: ${message}\n`)
  return error instanceof UsageError ? 2 : 1
}
