import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { collect, defineCommand, jsonOption, modeOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

export interface LoopOptions extends DataOption {
  readonly atOnce?: number
  readonly verify?: string
  readonly tries?: number
  readonly maxCost?: number
  readonly maxTurns?: number
  readonly worktrees?: boolean
  readonly resume?: string
  readonly list?: boolean
  readonly agent?: string
  readonly cwd?: string
  readonly model?: string
  readonly mode?: string
  readonly arg: readonly string[]
  readonly json?: boolean
}

export function addLoop(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "loop [tasks...]",
    summary: "Work through a list of tasks, each with a fresh agent, until a check of yours passes",
    examples: [
      'signalbox loop TASKS.md --verify "npm test"',
      "signalbox loop TASKS.md --at-once 4 --worktrees --max-cost 5",
      'signalbox loop "Make the slowest test fast" --verify "npm test" --tries 5',
      "signalbox loop --list",
      "signalbox loop --resume 1b0e9a52",
      "signalbox loop TASKS.md --agent simulator",
    ],
    notes:
      "The tasks are the open boxes (- [ ]) of a Markdown file, or one sentence. Without a hub it starts one for itself. More: docs/loop.md.",
  })
  command
    .option("--at-once <n>", "so many tasks at the same time (default: 1)", readCount("--at-once", 100))
    .option("--verify <command>", "decides whether a task is done; what it prints goes back to the agent if not")
    .option("--tries <n>", "turns an agent gets for a task (default: 3)", readCount("--tries", 1_000))
    .option("--max-cost <usd>", "stop when the run has cost so much", readCost)
    .option("--max-turns <n>", "stop after so many turns of all agents together", readCount("--max-turns", 1_000_000))
    .option("--worktrees", "each task in a git worktree and branch of its own")
    .option("--resume <run>", "go on with a run that was stopped or whose loop died; what is finished is not repeated")
    .option("--list", "show the runs that there are, and do nothing else")
    .option("--agent <kind>", "claude (the default) or simulator (no account needed)")
    .option("--cwd <directory>", "the folder the agents work in (default: this one, when the hub is on this machine)")
    .option("--model <model>", "the model to use")
    .option("--arg <argument>", "one more argument for the agents (repeatable; admin)", collect, [])
  modeOption(command)
  jsonOption(command, "print what happens as it happens, one JSON object on each line; with --list, the list").action(
    async (words: string[], options: LoopOptions) => {
      if (options.list === true) {
        if (words.length > 0 || options.resume !== undefined)
          throw usageError("--list shows the runs that there are: give no tasks and no --resume with it")
        const { listRuns } = await import("../loop/list-runs.ts")
        return listRuns(options, context)
      }
      const { loop } = await import("../loop/loop.ts")
      await loop(words, options, context)
    },
  )
}

function readCount(name: string, max: number): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (/^\d+$/.test(text) && count >= 1 && count <= max) return count
    throw usageError(`${name} ${text}: give a whole number from 1 to ${max}`)
  }
}

function readCost(text: string): number {
  const cost = Number(text)
  if (/^\d*\.?\d+$/.test(text) && cost > 0) return cost
  throw usageError(`--max-cost ${text}: give an amount of dollars, such as 2.50`)
}
