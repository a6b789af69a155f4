import type { Hub } from "@signalbox/client"
import { AUDIT_OUTCOMES } from "@signalbox/protocol/hub-api"
import { LAUNCH_MODES } from "@signalbox/protocol/launch-options"
import type { Command, Option } from "commander"
import type { CommandContext } from "../base/context.ts"
import { findHub, withHub } from "../hub/connect.ts"

/** The values of an argument: words, or things of the hub. */
const ARGUMENTS: Readonly<Record<string, readonly string[] | KnownThing>> = {
  verdict: ["allow", "deny"],
  shell: ["bash", "zsh", "fish"],
  id: "session",
  ids: "session",
  ask: "ask",
  grant: "grant",
}

/** The candidates for the last word, which is being typed. None: the shell offers files. */
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
  /** How many arguments are complete. */
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
    if (open.long === "--what") return AUDIT_OUTCOMES
    return open.long === "--mode" ? LAUNCH_MODES : (open.argChoices ?? [])
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

type KnownThing = "session" | "ask" | "grant" | "token" | "run"

const MAX = 200
const PATIENCE_MS = 2_000

/** Ids from the running hub, or none: completion never reports an error and never waits long. */
async function knownIds(
  thing: KnownThing,
  { data }: { readonly data: string | undefined },
  context: CommandContext,
): Promise<readonly string[]> {
  if (!isThereHub(data, context)) return []
  const late = new Promise<readonly string[]>((resolve) => setTimeout(resolve, PATIENCE_MS, []).unref())
  const asked = withHub(data === undefined ? {} : { data }, context, (hub) => idsOf(hub, thing)).catch(() => [])
  return Promise.race([asked, late])
}

/** Without a hub there is nothing to ask. */
function isThereHub(data: string | undefined, context: CommandContext): boolean {
  try {
    findHub(data === undefined ? {} : { data }, context)
    return true
  } catch {
    return false
  }
}

async function idsOf(hub: Hub, thing: KnownThing): Promise<readonly string[]> {
  switch (thing) {
    case "session":
      return (await hub.sessions({ limit: MAX })).sessions.map(({ id }) => id)
    case "ask":
      return (await hub.asks({ state: "pending" })).slice(0, MAX).map(({ id }) => id)
    case "grant":
      return (await hub.grants()).grants.slice(-MAX).map(({ id }) => id)
    case "run":
      return (await hub.runs.list({ limit: MAX })).runs.map(({ id }) => id)
    case "token": {
      const { tokens } = await hub.tokens.list()
      return tokens.flatMap(({ id, revokedAt }) => (revokedAt === null ? [id] : [])).slice(-MAX)
    }
  }
}
