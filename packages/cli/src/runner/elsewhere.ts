import { request as requestPlain } from "node:http"
import { request as requestSecure } from "node:https"
import { join } from "node:path"
import { fieldOf, parseObject, textOf } from "@signalbox/protocol/envelope"
import { listedAddresses } from "@signalbox/protocol/hub-addresses"
import type { RunnerOptions } from "@signalbox/runner"
import { type CommandContext, type DataDirectory, isOnThisMachine } from "../base/context.ts"
import { CliError, causeOf, usageError } from "../base/failure.ts"
import type { RunnerCommandOptions } from "./run-runner.ts"
import { readToken } from "./runner-token.ts"

const WELCOME_MS = 10_000

interface Elsewhere extends Pick<RunnerOptions, "token" | "stateDirectory"> {
  readonly hubUrl: () => readonly string[]
}

/** A hub on another machine, or several on one store: their addresses are given, and the token comes from a file or a variable. */
export function elsewhere(
  { hub, tokenFile }: RunnerCommandOptions,
  { data, context }: { readonly data: DataDirectory; readonly context: CommandContext },
): Elsewhere {
  if (hub === undefined)
    throw usageError("--hub is missing: give the hub's address (signalbox up starts its own runner)")
  const [first, ...others] = readUrls(hub)
  const fromVariable = context.env["SIGNALBOX_TOKEN"]
  const token = () => (tokenFile === undefined ? fromVariable : readToken(tokenFile))
  if (token() === undefined || token() === "") throw noToken(tokenFile)
  const urls = [first, ...others]
  for (const { protocol, href, origin } of urls) {
    if (protocol !== "http:" || isOnThisMachine(href)) continue
    context.stderr.write(
      `signalbox: ${origin} is not encrypted: others on the network can read the token and conversations\n`,
    )
  }
  const texts = urls.map(({ href }) => href.replace(/\/+$/, ""))
  // Named after the first: with more addresses of the same hubs it is the same runner.
  const name = first.host.replace(/[^\w.-]+/g, "-")
  return { hubUrl: () => texts, token, stateDirectory: join(data.path, `runner-for-${name}`) }
}

/**
 * Fails at once if the hub would never accept this runner, rather than dialling it forever. The API is not for runners: it refuses a
 * valid runner's token with 403. Returns why a hub does not answer yet; undefined if it does.
 */
export async function checkWelcome({ hubUrl, token }: Elsewhere): Promise<string | undefined> {
  let why: string | undefined
  for (const url of hubUrl()) {
    why = await askForWelcome(url, token() ?? "")
    if (why === undefined) return undefined
  }
  return why
}

async function askForWelcome(url: string, token: string): Promise<string | undefined> {
  let reply: Reply
  try {
    reply = await get(`${url}/api/me`, { authorization: `Bearer ${token}` })
  } catch (error) {
    return causeOf(error)
  }
  const { status, body } = reply
  const make = "create one on the hub's machine: signalbox token create --role runner"
  if (status === 401) throw new CliError("cli/not-allowed", `that token isn't valid on the hub at ${url}: ${make}`)
  const role = status === 200 ? textOf(body, "role") : undefined
  if (role !== undefined)
    throw new CliError("cli/not-allowed", `a runner needs a token with the role runner; this one has ${role}: ${make}`)
  if (textOf(fieldOf(body, "error"), "code") !== undefined) return undefined
  // A proxy may answer for a hub that is not running yet.
  if (status >= 500) return `status ${status}`
  throw new CliError("cli/failed", `${url} is not a hub: give --hub a hub's address`)
}

interface Reply {
  readonly status: number
  /** Undefined if it is no object. */
  readonly body: unknown
}

const MAX_REPLY_CHARS = 64 * 1024

/** Not with `fetch`: what that loads takes some ten megabytes, for as long as the runner lives. */
function get(url: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
  const request = url.startsWith("https:") ? requestSecure : requestPlain
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false, signal: AbortSignal.timeout(WELCOME_MS) }, (reply) => {
      let text = ""
      reply.setEncoding("utf8")
      reply.on("data", (chunk: string) => {
        if (text.length < MAX_REPLY_CHARS) text += chunk
      })
      reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: parseObject(text) }))
      reply.on("error", reject)
    })
    asked.on("error", reject)
    asked.end()
  })
}

function readUrls(text: string): [URL, ...URL[]] {
  const [first = "", ...others] = listedAddresses(text)
  return [readUrl(first, text), ...others.map((other) => readUrl(other, text))]
}

function readUrl(text: string, given: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:http|ws)s?:$/.test(url.protocol)) {
    const which = text === given ? "" : `"${text}" `
    throw usageError(`--hub ${given}: ${which}must be an address such as https://signalbox.example.org`)
  }
  url.protocol = url.protocol.replace("ws", "http")
  return url
}

function noToken(tokenFile: string | undefined): CliError {
  const make = "to create one on the hub's machine: signalbox token create --role runner"
  if (tokenFile !== undefined) return usageError(`can't read a token from ${tokenFile}; ${make}`)
  return new CliError("cli/not-allowed", `a runner needs a token: set SIGNALBOX_TOKEN or give --token-file; ${make}`)
}
