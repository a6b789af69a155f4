import { readFileSync } from "node:fs"
import type { CommandContext } from "../command-context.ts"
import { type DataDirectory, type DataOption, dataDirectory } from "../data-directory.ts"
import { CliError } from "../failure.ts"
import { readLivingCard } from "../process-card.ts"

export interface FoundHub {
  readonly url: string
  readonly token: string
}

/**
 * The hub that a command talks to: that of a data directory which was named, else SIGNALBOX_URL, else that of the usual data
 * directory. The admin's token goes to the hub that it belongs to and to no other address.
 */
export function findHub(options: DataOption, { env }: CommandContext): FoundHub {
  const data = dataDirectory(options, env)
  const here = readLivingCard(data.hubCard)?.url
  const asked = data.isNamed ? undefined : nonEmpty(env["SIGNALBOX_URL"])
  const url = asked ?? here
  if (url === undefined) throw noHub(data)
  const token = (data.isNamed ? undefined : nonEmpty(env["SIGNALBOX_TOKEN"])) ?? ownToken(data, url === here)
  if (token !== undefined) return { url, token }
  const advice =
    asked === undefined
      ? `${data.adminToken} cannot be read; set SIGNALBOX_TOKEN to a token of this hub`
      : "set SIGNALBOX_TOKEN to a token of that hub (signalbox token create makes one there)"
  throw new CliError("cli/not-allowed", `there is no token for the hub at ${url}: ${advice}`)
}

function ownToken(data: DataDirectory, isItsHub: boolean): string | undefined {
  if (!isItsHub) return undefined
  try {
    return nonEmpty(readFileSync(data.adminToken, "utf8").trim())
  } catch {
    return undefined
  }
}

function noHub(data: DataDirectory): CliError {
  const where = data.isNamed ? `with the data directory ${data.path}` : `here (${data.path} names none)`
  const start = data.isNamed ? `signalbox up --data ${data.path}` : "signalbox up"
  return new CliError(
    "cli/no-hub",
    `no hub is running ${where}: start one with "${start}", or set SIGNALBOX_URL and SIGNALBOX_TOKEN ("signalbox discover" looks for others)`,
  )
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text
}
