import { readFileSync } from "node:fs"
import { Command } from "commander"
import type { CommandContext } from "./base/command-context.ts"
import { errorLine } from "./base/define-command.ts"

const { version: VERSION }: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
)

type AddCommand = (program: Command, context: CommandContext) => void

/** In the order of the help. Each file has the definition alone; the work is loaded when it is asked for. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  up: async () => (await import("./commands/up.ts")).addUp,
  down: async () => (await import("./commands/down.ts")).addDown,
  runner: async () => (await import("./commands/runner.ts")).addRunner,
  run: async () => (await import("./commands/run.ts")).addRun,
  new: async () => (await import("./commands/new.ts")).addNew,
  ls: async () => (await import("./commands/ls.ts")).addLs,
  attach: async () => (await import("./commands/attach.ts")).addAttach,
  send: async () => (await import("./commands/send.ts")).addSend,
  asks: async () => (await import("./commands/asks.ts")).addAsks,
  answer: async () => (await import("./commands/answer.ts")).addAnswer,
  interrupt: async () => (await import("./commands/interrupt.ts")).addInterrupt,
  stop: async () => (await import("./commands/stop.ts")).addStop,
  log: async () => (await import("./commands/log.ts")).addLog,
  export: async () => (await import("./commands/export.ts")).addExport,
  token: async () => (await import("./commands/token.ts")).addToken,
  loop: async () => (await import("./commands/loop.ts")).addLoop,
  discover: async () => (await import("./commands/discover.ts")).addDiscover,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
  shim: async () => (await import("./commands/shim.ts")).addShim,
  sim: async () => (await import("./commands/sim.ts")).addSim,
  completion: async () => (await import("./commands/completion.ts")).addCompletion,
}

/** With all commands; or with the one that was called, if it is known: the others need not be loaded for it. */
export async function createProgram(context: CommandContext, called?: string): Promise<Command> {
  const program = new Command("signalbox")
    .description(
      "A control plane for Claude Code agents: watch them, steer them, give or refuse permission, from one place.",
    )
    .version(VERSION)
    // Those below inherit both. Nothing ends the process but the end of main; an error is one line.
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(errorLine(text, "signalbox")) })
    .addHelpText(
      "after",
      "\nBegin with:  signalbox up\nExit codes:  0 done, 1 failed, 2 wrong usage, 3 no hub reachable, 4 not allowed",
    )
  const only = called !== undefined && Object.hasOwn(COMMANDS, called) ? COMMANDS[called] : undefined
  const loaders = only === undefined ? Object.values(COMMANDS) : [only]
  for (const add of await Promise.all(loaders.map((load) => load()))) add(program, context)
  return program
}

/** The program and all below it. */
export function everyCommand(program: Command): Command[] {
  return [program, ...program.commands.flatMap(everyCommand)]
}
