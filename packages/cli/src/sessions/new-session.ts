import { resolve } from "node:path"
import type { Hub, LaunchRequest } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import { usageError } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"
import type { NewOptions } from "../commands/new.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { findOrOffer, withHub } from "../hub/with-hub.ts"
import { print, printJson } from "../terminal/output.ts"
import { readAll } from "../terminal/read-all.ts"
import { requireTerminal } from "../terminal/require-terminal.ts"
import { readLaunchOptions } from "./launch-options.ts"

const WHOLE_ID_CHARS = 36

export async function newSession(options: NewOptions, context: CommandContext): Promise<void> {
  // Before anything is made: who cannot watch it is told so.
  if (options.attach === true && options.json !== true && options.agent !== "external")
    requireTerminal(context, options)
  const prompt = options.prompt === "-" ? await readAll(context.stdin) : options.prompt
  const requestFor = launchRequest(options, prompt)
  const request = requestFor(isOnThisMachine((await findOrOffer(options, context)).url))
  const session = await withHub(options, context, async (hub) => hub.launch(await inFull(hub, request)))
  if (options.json === true) return printJson(context, session)
  const { ingress } = session
  if (options.attach === true && ingress === undefined) {
    const { attach } = await import("../attach/attach.ts")
    return attach(session.id, options, context)
  }
  await print(context.stdout, `${session.id}\n`)
  if (ingress !== undefined) {
    const note = ingress.note === undefined ? "" : `${ingress.note}\n`
    context.stderr.write(`Start its agent with:\n${ingress.command}\n${note}`)
  } else if (context.stderr.isTTY)
    context.stderr.write(`See it: ${nextCommand(`attach ${session.id.slice(0, 8)}`, options, context.env)}\n`)
}

/** The beginning of an id names a session of the hub's; a whole one may also be of a conversation that it does not know. */
async function inFull(hub: Hub, request: LaunchRequest): Promise<LaunchRequest> {
  const { resume } = request
  if (resume === undefined || resume.length >= WHOLE_ID_CHARS) return request
  return { ...request, resume: (await findSession(hub, resume)).id }
}

/** What is wrong with the options is told before a hub is looked for; which folder is meant depends on where that is. */
function launchRequest(options: NewOptions, prompt: string | undefined): (isHere: boolean) => LaunchRequest {
  const { model, mode, resume, fork, at, title, runner, worktree, arg, env } = options
  const isContinued = options.continue === true
  if (isContinued && resume !== undefined)
    throw usageError("--continue cannot be used with --resume: it takes the most recent conversation in the folder")
  if (fork === true && resume === undefined && !isContinued)
    throw usageError("--fork needs --resume or --continue: what is to be forked?")
  if (at !== undefined && (fork !== true || resume === undefined))
    throw usageError("--at needs --resume and --fork: the original keeps all of its messages")
  const request: LaunchRequest = {
    agent: readAgent(options.agent),
    ...(prompt === undefined ? {} : { prompt }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(resume === undefined ? {} : { resume }),
    ...(isContinued ? { continue: true } : {}),
    ...(fork === undefined ? {} : { fork }),
    ...(at === undefined ? {} : { resumeAt: at }),
    ...(title === undefined ? {} : { title }),
    ...(runner === undefined ? {} : { runner }),
    ...(worktree === undefined ? {} : { worktree: typeof worktree === "string" ? { branch: worktree } : worktree }),
    ...readLaunchOptions(options),
    ...(arg.length === 0 ? {} : { args: arg }),
    ...(env.length === 0 ? {} : { env: readVariables(env) }),
  }
  return (isHere) => {
    const cwd = folderFor(options, isHere)
    return cwd === undefined ? request : { ...request, cwd }
  }
}

function readAgent(kind: string): "claude" | "simulator" | "external" {
  if (kind === "claude" || kind === "simulator" || kind === "external") return kind
  throw usageError(`--agent ${kind}: give claude, simulator or external`)
}

/** A conversation is resumed in the folder it belongs to, which the runner knows; another machine has other folders. */
function folderFor({ cwd, resume, runner, agent }: NewOptions, isHere: boolean): string | undefined {
  if (cwd !== undefined) return isHere && runner === undefined ? resolve(cwd) : cwd
  return isHere && runner === undefined && resume === undefined && agent !== "external" ? process.cwd() : undefined
}

export function isOnThisMachine(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.") || hostname === "0.0.0.0"
}

function readVariables(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(each) ?? []
      if (name === undefined || value === undefined) throw usageError(`--env ${each}: write it as NAME=value`)
      return [name, value]
    }),
  )
}
