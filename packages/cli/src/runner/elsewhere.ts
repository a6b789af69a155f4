import { join } from "node:path"
import type { RunnerOptions } from "@signalbox/runner"
import type { CommandContext } from "../command-context.ts"
import type { RunnerCommandOptions } from "../commands/runner.ts"
import type { DataDirectory } from "../data-directory.ts"
import { CliError, usageError } from "../failure.ts"
import { readToken } from "./runner-token.ts"

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

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:http|ws)s?:$/.test(url.protocol))
    throw usageError(`--hub ${text}: give an address such as https://signalbox.example.org`)
  url.protocol = url.protocol.replace("ws", "http")
  return url
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.")
}

function noToken(tokenFile: string | undefined): CliError {
  const make = "signalbox token create --role runner makes one on the hub's machine"
  if (tokenFile !== undefined) return usageError(`${tokenFile} holds no token that can be read; ${make}`)
  return new CliError("cli/not-allowed", `a runner needs a token: set SIGNALBOX_TOKEN or give --token-file; ${make}`)
}
