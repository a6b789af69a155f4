import { request as requestPlain } from "node:http"
import { request as requestSecure } from "node:https"
import { join } from "node:path"
import { fieldOf, parseObject, textOf } from "@signalbox/protocol/envelope"
import type { RunnerOptions } from "@signalbox/runner"
import { type CommandContext, type DataDirectory, isOnThisMachine } from "../base/context.ts"
import { CliError, causeOf, usageError } from "../base/failure.ts"
import type { RunnerCommandOptions } from "./run-runner.ts"
import { readToken } from "./runner-token.ts"

const WELCOME_MS = 10_000

/** A hub on another machine: its address is given, and its token comes from a file or a variable. */
export function elsewhere(
  { hub, tokenFile }: RunnerCommandOptions,
  { data, context }: { readonly data: DataDirectory; readonly context: CommandContext },
): Pick<RunnerOptions, "hubUrl" | "token" | "stateDirectory"> {
  if (hub === undefined)
    throw usageError("--hub is missing: give the hub's address (signalbox up starts its own runner)")
  const url = readUrl(hub)
  const fromVariable = context.env["SIGNALBOX_TOKEN"]
  const token = () => (tokenFile === undefined ? fromVariable : readToken(tokenFile))
  if (token() === undefined || token() === "") throw noToken(tokenFile)
  if (url.protocol === "http:" && !isOnThisMachine(url.href)) {
    context.stderr.write(
      `signalbox: ${url.origin} is not encrypted: others on the network can read the token and conversations\n`,
    )
  }
  const name = url.host.replace(/[^\w.-]+/g, "-")
  const text = url.href.replace(/\/+$/, "")
  return { hubUrl: () => text, token, stateDirectory: join(data.path, `runner-for-${name}`) }
}

/**
 * Fails at once if the hub would never accept this runner, rather than dialling it forever. The API is not for runners: it refuses a
 * valid runner's token with 403. Returns why a hub does not answer yet; undefined if it does.
 */
export async function checkWelcome({
  hubUrl,
  token,
}: Pick<RunnerOptions, "hubUrl" | "token">): Promise<string | undefined> {
  const url = hubUrl()
  let reply: Reply
  try {
    reply = await get(`${url}/api/me`, { authorization: `Bearer ${token()}` })
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

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:http|ws)s?:$/.test(url.protocol))
    throw usageError(`--hub ${text}: must be an address such as https://signalbox.example.org`)
  url.protocol = url.protocol.replace("ws", "http")
  return url
}

function noToken(tokenFile: string | undefined): CliError {
  const make = "to create one on the hub's machine: signalbox token create --role runner"
  if (tokenFile !== undefined) return usageError(`can't read a token from ${tokenFile}; ${make}`)
  return new CliError("cli/not-allowed", `a runner needs a token: set SIGNALBOX_TOKEN or give --token-file; ${make}`)
}
