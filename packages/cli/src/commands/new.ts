import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { collect, defineCommand, jsonOption, modeOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"
import { addLaunchOptions, type LaunchOptionFlags } from "../sessions/launch-options.ts"

export interface NewOptions extends DataOption, LaunchOptionFlags {
  readonly agent: string
  readonly cwd?: string
  readonly prompt?: string
  readonly model?: string
  readonly mode?: string
  readonly resume?: string
  readonly continue?: boolean
  readonly fork?: boolean
  readonly at?: string
  readonly title?: string
  readonly runner?: string
  readonly worktree?: boolean | string
  readonly arg: readonly string[]
  readonly env: readonly string[]
  readonly attach?: boolean
  readonly json?: boolean
}

export function addNew(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "new",
    summary: "Make a session on the hub and print its id",
    examples: [
      'signalbox new --prompt "What is in this folder?"',
      'signalbox new --agent simulator --prompt "permission please" --attach',
      'signalbox new --prompt "Review the last commit" --append-system-prompt "Be brief." --max-turns 20',
      "signalbox new --resume 1b0e9a52-6f0c-4d0e-9d7e-0c3a1f2b4d5e --fork",
    ],
  })
  command
    .option("--agent <kind>", "claude, simulator (no account needed), or external (you start it by hand)", "claude")
    .option(
      "--cwd <directory>",
      "the folder it works in (default: this one, when the hub is on this machine and no --runner is named)",
    )
    .option("--prompt <text>", "the first message (- reads it from stdin)", readPrompt)
    .option("--model <model>", "the model to use")
    .option("--resume <id>", "go on with a conversation: the id of a session here, or the CLI's own")
    .option("--continue", "go on with the most recent conversation in the folder")
    .option("--fork", "with --resume or --continue: leave the original as it is")
    .option("--at <uuid>", "with --fork: leave out what came after this message of the agent")
    .option("--title <title>", "a name for people")
    .option("--runner <name>", "the machine: a runner's name, id or label")
    .option("--worktree [branch]", "work in a git worktree of its own")
    .option("--arg <argument>", "one more argument for the agent (repeatable; admin)", collect, [])
    .option("--attach", "watch it right away, as signalbox attach does")
    .option("--env <NAME=value>", "a variable for the agent (repeatable; admin)", collect, [])
  modeOption(command)
  addLaunchOptions(command)
  jsonOption(command, "print the whole session as JSON").action(async (options: NewOptions) => {
    const { newSession } = await import("../sessions/new-session.ts")
    await newSession(options, context)
  })
}

function readPrompt(text: string): string {
  if (text.trim() !== "") return text
  throw usageError("--prompt is empty: say what the agent is to do, or leave it out and send a message later")
}
