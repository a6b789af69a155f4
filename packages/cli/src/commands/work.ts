import type { Command } from "commander"
import type { CommandContext } from "../base/context.ts"
import { choice, collect, defineCommand, modeOption, wholeNumber } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"
import type { LoopOptions } from "../loop/run-record.ts"
import type { RunOptions } from "../run/run.ts"

export function addRun(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "run [prompt...]",
    summary: "Run one turn of an agent in this terminal; needs no hub",
    examples: [
      'signalbox run "What is in this folder?"',
      "git diff | signalbox run - --model haiku > review.md",
      'signalbox run --sim "permission please"',
    ],
    json: "print the agent's messages as they come, one JSON object per line",
    options: (command) =>
      modeOption(
        command
          .option("--cwd <directory>", "the folder to work in (default: this one)")
          .option("--model <model>", "the model to use")
          .option("--resume <id>", "resume a conversation: the CLI's own session id")
          .option("--sim", "use the simulator instead of claude: no account needed"),
      ),
  }).action(async (words: string[], options: RunOptions) =>
    (await import("../run/run.ts")).run(words, options, context),
  )
}

export function addLoop(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "loop [tasks...]",
    summary: "Work through a list of tasks, each with a new agent, until your check passes",
    examples: [
      'signalbox loop TASKS.md --verify "npm test"',
      "signalbox loop TASKS.md --at-once 4 --worktrees --max-cost 5",
      'signalbox loop "Make the slowest test fast" --verify "npm test" --tries 5',
      "signalbox loop --list",
      "signalbox loop --resume 1b0e9a52",
      "signalbox loop TASKS.md --agent simulator",
    ],
    notes:
      "Tasks are the open boxes (- [ ]) of a Markdown file, or one sentence. Without a running hub, the loop starts its own. More: docs/loop.md.",
    json: "print the progress as it happens, one JSON object per line; with --list, the list",
    options: loopOptions,
  }).action(async (words: string[], options: LoopOptions) => {
    if (options.list !== true) return (await import("../loop/loop.ts")).loop(words, options, context)
    if (words.length > 0 || options.resume !== undefined)
      throw usageError("--list takes no tasks and no --resume: leave them out")
    return (await import("../loop/list-runs.ts")).listRuns(options, context)
  })
}

function loopOptions(command: Command): Command {
  return modeOption(
    command
      .option("--at-once <n>", "how many tasks to work on at once (default: 1)", wholeNumber("--at-once", 1, 100))
      .option("--verify <command>", "command that checks each task; if it fails, the agent gets its output")
      .option("--tries <n>", "turns per task (default: 3)", wholeNumber("--tries", 1, 1_000))
      .option("--max-cost <usd>", "stop when the run has cost this much", readCost)
      .option("--max-turns <n>", "stop after this many turns in total", wholeNumber("--max-turns", 1, 1_000_000))
      .option("--worktrees", "give each task its own git worktree and branch")
      .option("--resume <run>", "resume a stopped run; finished tasks are not repeated")
      .option("--list", "list the runs and do nothing else")
      .addOption(
        choice("--agent <kind>", "what to start (default: claude); simulator needs no account", [
          "claude",
          "simulator",
        ]),
      )
      .option("--cwd <directory>", "the folder to work in (default: this one, if the hub is on this machine)")
      .option("--model <model>", "the model to use")
      .option("--arg <argument>", "one more argument for the agents (repeatable; admin)", collect, []),
  )
}

function readCost(text: string): number {
  const cost = Number(text)
  if (/^\d*\.?\d+$/.test(text) && cost > 0) return cost
  throw usageError(`--max-cost ${text}: must be an amount in dollars, such as 2.50`)
}
