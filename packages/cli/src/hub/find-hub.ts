import { readFileSync } from "node:fs"
import type { CommandContext } from "../base/command-context.ts"
import { type DataDirectory, type DataOption, dataDirectory } from "../base/data-directory.ts"
import { CliError, usageError } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"
import { readLivingCard } from "../base/process-card.ts"

export interface FoundHub {
  readonly url: string
  readonly token: string
}

/** Address and token of one try are looked for once: where a system has no /proc it takes a process to look. */
const LOOK_MS = 100

/**
 * The hub that a command talks to: that of a data directory which was named, else SIGNALBOX_URL, else that of the usual data
 * directory. The admin's token goes to the hub that it belongs to and to no other address.
 */
export function findHub(options: DataOption, { env }: CommandContext): FoundHub {
  const data = dataDirectory(options, env)
  const here = readLivingCard(data.hubCard)?.url
  const asked = data.isNamed ? undefined : askedFor(env)
  const url = asked ?? here
  if (url === undefined) throw noHub(data, nextCommand("up", options, env))
  const token = (data.isNamed ? undefined : nonEmpty(env["SIGNALBOX_TOKEN"])) ?? ownToken(data, url === here)
  if (token !== undefined) return { url, token }
  const advice =
    asked === undefined
      ? `${data.adminToken} cannot be read; set SIGNALBOX_TOKEN to a token of this hub`
      : "set SIGNALBOX_TOKEN to a token of that hub (signalbox token create makes one there)"
  throw new CliError("cli/not-allowed", `there is no token for the hub at ${url}: ${advice}`)
}

/** For a connection that lasts: the hub may come back at another port, and while none lives its token goes nowhere. */
export function whereHubIs(
  options: DataOption,
  context: CommandContext,
): { readonly url: () => string | undefined; readonly token: () => string | undefined } {
  let looked: { readonly atMs: number; readonly found: FoundHub | undefined } | undefined
  const now = () => {
    const atMs = performance.now()
    if (looked === undefined || atMs - looked.atMs > LOOK_MS) looked = { atMs, found: lookFor(options, context) }
    return looked.found
  }
  return { url: () => now()?.url, token: () => now()?.token }
}

function lookFor(options: DataOption, context: CommandContext): FoundHub | undefined {
  try {
    return findHub(options, context)
  } catch {
    return undefined
  }
}

/** The address in SIGNALBOX_URL, if it is set. */
export function askedFor(env: NodeJS.ProcessEnv): string | undefined {
  const url = nonEmpty(env["SIGNALBOX_URL"])
  if (url === undefined || (URL.canParse(url) && /^(?:http|ws)s?:$/.test(new URL(url).protocol))) return url
  throw usageError(`SIGNALBOX_URL is ${url}: set it to a hub's address such as http://127.0.0.1:8765, or unset it`)
}

function ownToken(data: DataDirectory, isItsHub: boolean): string | undefined {
  if (!isItsHub) return undefined
  try {
    return nonEmpty(readFileSync(data.adminToken, "utf8").trim())
  } catch {
    return undefined
  }
}

function noHub(data: DataDirectory, start: string): CliError {
  const where = data.isNamed ? `with the data directory ${data.path}` : `here (${data.path} names none)`
  return new CliError(
    "cli/no-hub",
    `no hub is running ${where}: start one with "${start}", or set SIGNALBOX_URL and SIGNALBOX_TOKEN ("signalbox discover" looks for others)`,
  )
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text
}
