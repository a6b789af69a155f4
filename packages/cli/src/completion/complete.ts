import { LAUNCH_MODES } from "@signalbox/protocol/launch-options"
import type { Command, Option } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import { type KnownThing, knownIds } from "./known-ids.ts"

/** What an option's value may be, where there are but a few. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "--role": ["viewer", "operator", "admin", "runner"],
  "--state": ["starting", "idle", "running", "waiting", "disconnected", "ended"],
  "--agent": ["claude", "simulator", "external"],
  "--mode": LAUNCH_MODES,
  "--priority": ["now", "next", "later"],
}

/** What an argument may be: words, or things of the hub. */
const ARGUMENTS: Readonly<Record<string, readonly string[] | KnownThing>> = {
  verdict: ["allow", "deny"],
  shell: ["bash", "zsh"],
  id: "session",
  ids: "session",
  ask: "ask",
}

/** The candidates for the last of the words, which is being typed. None: the shell offers files. */
export async function complete(
  program: Command,
  words: readonly string[],
  context: CommandContext,
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ""
  const place = walk(program, words.slice(0, -1))
  const all = await candidatesAt(place, typed, context)
  return all.filter((each) => each.startsWith(typed))
}

interface Place {
  readonly command: Command
  /** Arguments that stand already. */
  readonly given: number
  /** The option whose value comes next. */
  readonly open: Option | undefined
  readonly used: ReadonlySet<string>
  readonly data: string | undefined
}

function walk(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, given: 0, open: undefined, used: new Set(), data: undefined }
  for (const word of words) place = step(place, word)
  return place
}

function step(place: Place, word: string): Place {
  const { command, open, used } = place
  if (open !== undefined) return { ...place, open: undefined, ...(open.long === "--data" ? { data: word } : {}) }
  if (word.startsWith("-")) {
    const option = command.options.find(({ long, short }) => long === word || short === word)
    return { ...place, open: option?.required === true ? option : undefined, used: new Set([...used, word]) }
  }
  const below = command.commands.find((each) => each.name() === word)
  return below === undefined || place.given > 0
    ? { ...place, given: place.given + 1 }
    : { ...place, command: below, given: 0, used: new Set() }
}

async function candidatesAt(place: Place, typed: string, context: CommandContext): Promise<readonly string[]> {
  const { command, open, used, data } = place
  if (open !== undefined) {
    if (open.long === "--resume") return knownIds(command.name() === "loop" ? "run" : "session", { data }, context)
    if (open.long === "--session") return knownIds("session", { data }, context)
    return VALUES[open.long ?? ""] ?? []
  }
  if (typed.startsWith("-")) {
    const options = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? [])
    return [...options, "--help"].filter((option) => !used.has(option))
  }
  const help = command.createHelp()
  if (command.commands.length > 0) return help.visibleCommands(command).map((each) => each.name())
  const argument =
    command.registeredArguments[place.given] ?? command.registeredArguments.find(({ variadic }) => variadic)
  const kind = command.parent?.name() === "token" ? "token" : ARGUMENTS[argument?.name() ?? ""]
  if (argument === undefined || kind === undefined) return []
  return typeof kind === "string" ? knownIds(kind, { data }, context) : kind
}
