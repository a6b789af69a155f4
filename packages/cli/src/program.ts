import { readFileSync } from "node:fs"
import { Command } from "commander"
import type { CommandContext } from "./base/context.ts"
import { errorLine } from "./base/define-command.ts"

const { version: VERSION }: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
)

type AddCommand = (program: Command, context: CommandContext) => void

const machine = () => import("./commands/machine.ts")
const sessions = () => import("./commands/sessions.ts")
const asks = () => import("./commands/asks.ts")
const work = () => import("./commands/work.ts")
const policy = () => import("./commands/policy.ts")
const data = () => import("./commands/data.ts")
const tools = () => import("./commands/tools.ts")

/** In the order of the help. Each file has definitions alone; a command's work is loaded when it runs. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  up: async () => (await machine()).addUp,
  down: async () => (await machine()).addDown,
  runner: async () => (await machine()).addRunner,
  hubs: async () => (await machine()).addHubs,
  run: async () => (await work()).addRun,
  new: async () => (await sessions()).addNew,
  ls: async () => (await sessions()).addLs,
  attach: async () => (await sessions()).addAttach,
  send: async () => (await sessions()).addSend,
  asks: async () => (await asks()).addAsks,
  answer: async () => (await asks()).addAnswer,
  interrupt: async () => (await sessions()).addInterrupt,
  stop: async () => (await sessions()).addStop,
  log: async () => (await sessions()).addLog,
  export: async () => (await sessions()).addExport,
  rm: async () => (await data()).addRm,
  prune: async () => (await data()).addPrune,
  token: async () => (await import("./commands/tokens.ts")).addToken,
  policy: async () => (await policy()).addPolicy,
  grants: async () => (await policy()).addGrants,
  audit: async () => (await policy()).addAudit,
  loop: async () => (await work()).addLoop,
  discover: async () => (await machine()).addDiscover,
  doctor: async () => (await machine()).addDoctor,
  backup: async () => (await data()).addBackup,
  restore: async () => (await data()).addRestore,
  salvage: async () => (await data()).addSalvage,
  move: async () => (await data()).addMove,
  support: async () => (await data()).addSupport,
  shim: async () => (await tools()).addShim,
  sim: async () => (await tools()).addSim,
  completion: async () => (await tools()).addCompletion,
}

/** With all commands; or with the one that was called, if it is known: the others need not be loaded for it. */
export async function createProgram(context: CommandContext, called?: string): Promise<Command> {
  const program = new Command("signalbox")
    .description(
      "A control plane for Claude Code agents: watch them, steer them and answer their requests, from one place.",
    )
    .version(VERSION)
    // Subcommands inherit both. Only the end of main ends the process; an error is one line.
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(errorLine(text, "signalbox")) })
    .addHelpText(
      "after",
      "\nStart with:  signalbox up\nExit codes:  0 done, 1 failed, 2 wrong usage, 3 no hub reachable, 4 not allowed",
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
