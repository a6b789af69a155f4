import { resolve } from "node:path"
import type { Hub, LaunchRequest } from "@signalbox/client"
import type { CommandContext } from "../command-context.ts"
import type { NewOptions } from "../commands/new.ts"
import { usageError } from "../failure.ts"
import { print, printJson } from "../terminal/output.ts"
import { readAll } from "../terminal/read-all.ts"
import { findSession } from "./abbreviated-id.ts"
import { findHub } from "./find-hub.ts"
import { withHub } from "./with-hub.ts"

const WHOLE_ID_CHARS = 36

export async function newSession(options: NewOptions, context: CommandContext): Promise<void> {
  const prompt = options.prompt === "-" ? await readAll(context.stdin) : options.prompt
  const isHere = isOnThisMachine(findHub(options, context).url)
  const request = launchRequest(options, { prompt, isHere })
  const session = await withHub(options, context, async (hub) => hub.launch(await inFull(hub, request)))
  if (options.json === true) return printJson(context, session)
  const { ingress } = session
  if (options.attach === true && ingress === undefined) {
    const { attach } = await import("../attach/attach.ts")
    return attach(session.id, options, context)
  }
  await print(context.stdout, `${session.id}\n`)
  if (ingress !== undefined) context.stderr.write(`Start its agent with:\n${ingress.command}\n`)
  else if (context.stderr.isTTY) context.stderr.write(`See it: signalbox attach ${session.id.slice(0, 8)}\n`)
}

/** The beginning of an id names a session of the hub's; a whole one may also be of a conversation that it does not know. */
async function inFull(hub: Hub, request: LaunchRequest): Promise<LaunchRequest> {
  const { resume } = request
  if (resume === undefined || resume.length >= WHOLE_ID_CHARS) return request
  return { ...request, resume: (await findSession(hub, resume)).id }
}

function launchRequest(
  options: NewOptions,
  { prompt, isHere }: { readonly prompt: string | undefined; readonly isHere: boolean },
): LaunchRequest {
  const { model, mode, resume, title, runner, worktree, arg, env } = options
  if (options.fork === true && resume === undefined) throw usageError("--fork needs --resume: what is to be forked?")
  const cwd = folderFor(options, isHere)
  return {
    agent: readAgent(options.agent),
    ...(cwd === undefined ? {} : { cwd }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(resume === undefined ? {} : { resume }),
    ...(options.fork === undefined ? {} : { fork: options.fork }),
    ...(title === undefined ? {} : { title }),
    ...(runner === undefined ? {} : { runner }),
    ...(worktree === undefined ? {} : { worktree: typeof worktree === "string" ? { branch: worktree } : worktree }),
    ...(arg.length === 0 ? {} : { args: arg }),
    ...(env.length === 0 ? {} : { env: readVariables(env) }),
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
