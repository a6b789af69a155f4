import { isIP } from "node:net"
import { join } from "node:path"
import { fieldOf, textOf } from "@signalbox/protocol"
import type { RunnerOptions } from "@signalbox/runner"
import type { CommandContext } from "../base/command-context.ts"
import type { DataDirectory } from "../base/data-directory.ts"
import { CliError, causeOf, usageError } from "../base/failure.ts"
import type { RunnerCommandOptions } from "../commands/runner.ts"
import { readToken } from "./runner-token.ts"

const WELCOME_MS = 10_000

/** A hub on another machine: its address is known, and its token comes by a file or a variable. */
export function elsewhere(
  { hub, tokenFile }: RunnerCommandOptions,
  { data, context }: { readonly data: DataDirectory; readonly context: CommandContext },
): Pick<RunnerOptions, "hubUrl" | "token" | "stateDirectory"> {
  if (hub === undefined) throw usageError("which hub? Give --hub https://… (signalbox up starts the runner of its own)")
  const url = readUrl(hub)
  const fromVariable = context.env["SIGNALBOX_TOKEN"]
  const token = () => (tokenFile === undefined ? fromVariable : readToken(tokenFile))
  if (token() === undefined || token() === "") throw noToken(tokenFile)
  if (url.protocol === "http:" && !isLoopback(url)) {
    context.stderr.write(`signalbox: ${url.origin} is not encrypted: token and conversations can be read on the way\n`)
  }
  const name = url.host.replace(/[^\w.-]+/g, "-")
  const text = url.href.replace(/\/+$/, "")
  return { hubUrl: () => text, token, stateDirectory: join(data.path, `runner-for-${name}`) }
}

/**
 * A hub that does not take this runner is told at once, not dialled for ever. The API is not for runners: it knows a valid token of
 * theirs by refusing it. Returns why a hub does not answer, which may come later; undefined when it does.
 */
export async function checkWelcome({
  hubUrl,
  token,
}: Pick<RunnerOptions, "hubUrl" | "token">): Promise<string | undefined> {
  const url = hubUrl()
  let reply: Response
  try {
    const headers = { authorization: `Bearer ${token()}` }
    reply = await fetch(`${url}/api/me`, { headers, signal: AbortSignal.timeout(WELCOME_MS) })
  } catch (error) {
    return causeOf(error)
  }
  const body: unknown = await reply.json().catch(() => undefined)
  const make = 'make one on the hub\'s machine with "signalbox token create --role runner"'
  if (reply.status === 401) throw new CliError("cli/not-allowed", `the hub at ${url} does not know this token: ${make}`)
  const role = reply.ok ? textOf(body, "role") : undefined
  if (role !== undefined)
    throw new CliError(
      "cli/not-allowed",
      `this token has the role ${role}, and a runner needs one of the role runner: ${make}`,
    )
  if (textOf(fieldOf(body, "error"), "code") !== undefined) return undefined
  // A proxy may stand in front of a hub that is not up yet.
  if (reply.status >= 500) return `status ${reply.status}`
  throw new CliError("cli/failed", `what answers at ${url} is not a hub: give --hub a hub's address`)
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:http|ws)s?:$/.test(url.protocol))
    throw usageError(`--hub ${text}: give an address such as https://signalbox.example.org`)
  url.protocol = url.protocol.replace("ws", "http")
  return url
}

/** By its name, `127.example.org` is no address of this machine. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."))
}

function noToken(tokenFile: string | undefined): CliError {
  const make = "signalbox token create --role runner makes one on the hub's machine"
  if (tokenFile !== undefined) return usageError(`${tokenFile} holds no token that can be read; ${make}`)
  return new CliError("cli/not-allowed", `a runner needs a token: set SIGNALBOX_TOKEN or give --token-file; ${make}`)
}
