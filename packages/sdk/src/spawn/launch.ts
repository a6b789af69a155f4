import { connectHub, type Hub, HubClientError, type LaunchRequest } from "@signalbox/client"
import { type LaunchOptions, optionsOfInitialize, uncarriedFields } from "@signalbox/protocol/launch-options"
import { SdkError } from "../base/errors.ts"
import { defined, fieldOf, parseObject } from "../base/wire.ts"
import { attachToHub } from "../hub/attach-to-hub.ts"
import { hubFailure } from "../hub/hub-failures.ts"
import type { AgentLink } from "../launch/open-agent.ts"
import type { Options } from "../types/options.ts"
import { type CrossingArguments, flagsIn, readCrossingArguments, withoutHabits } from "./arguments.ts"
import type { SpawnOnHubOptions } from "./spawn-on-hub.ts"

/** A runner may take a while to start an agent. */
const LAUNCH_TIMEOUT_MS = 120_000

export interface HubOpening {
  readonly options: SpawnOnHubOptions
  readonly args: readonly string[]
  readonly cwd: string | undefined
  readonly firstLine: string
  readonly signal: AbortSignal
}

/** Where the program is to begin. */
interface Start {
  readonly session: string
  /** Left out: with what is said from now on. */
  readonly after?: number
  /** It was there before: model and mode are set when the program is attached. */
  readonly isRunning: boolean
}

/** Has the hub start an agent with what is on the command line, or attaches to one that runs. */
export async function openLinkOnHub(opening: HubOpening): Promise<AgentLink> {
  const { options, signal } = opening
  const crossing = readCrossingArguments(opening.args)
  const { url, token, patienceMs } = options
  const { isRunning, ...start } =
    options.session === undefined ? await launch(opening, crossing) : named(options.session)
  if (options.session !== undefined) checkAttaching(crossing)
  options.onSession?.(start.session)
  const hub = { url, token, patienceMs, ...start }
  const { model, permissionMode }: Partial<CrossingArguments> = isRunning ? crossing : {}
  const query: Options = {
    includePartialMessages: crossing.wantsPieces,
    includeHookEvents: crossing.wantsHookEvents,
    model,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- which modes there are is the agent's to say
    permissionMode: permissionMode as Options["permissionMode"],
  }
  const none = () => undefined
  return attachToHub(query, hub, { start: "now", ended: signal, onAttached: none, onCaughtUp: none })
}

function named(session: string): Start {
  return { session, isRunning: true }
}

/** An agent that runs can be given a model and a mode; for all else it is too late. */
function checkAttaching({ resume, isContinued, fork, options, args }: CrossingArguments): void {
  const flags = [
    ...(resume === undefined ? [] : ["--resume"]),
    ...(isContinued ? ["--continue"] : []),
    ...(fork ? ["--fork-session"] : []),
    ...Object.keys(withoutHabits(options)),
    ...flagsIn(args),
  ]
  if (flags.length === 0) return
  const message = `${flags.join(", ")} cannot be used with an agent that runs already: start it with what it needs`
  throw new SdkError("sdk/bad-option", message, { details: { flags } })
}

async function launch(opening: HubOpening, crossing: CrossingArguments): Promise<Start> {
  const { url, token } = opening.options
  const hub = connectHub({ url, token, timeoutMs: LAUNCH_TIMEOUT_MS })
  const request = launchRequest(opening, crossing)
  try {
    return await start(hub, request).catch((error: unknown) => startOtherwise(hub, request, error))
  } catch (error) {
    throw hubFailure(error)
  } finally {
    hub.close()
  }
}

/** Messages from before a resume are not said again. */
async function start(hub: Hub, request: LaunchRequest): Promise<Start> {
  const { id, lastSeq } = await hub.launch(request)
  const isGoingOn = request.resume !== undefined || request.continue === true
  return { session: id, after: isGoingOn ? lastSeq : 0, isRunning: false }
}

async function startOtherwise(hub: Hub, request: LaunchRequest, error: unknown): Promise<Start> {
  if (!(error instanceof HubClientError)) throw error
  const { args = [], settingSources, ...plain } = request
  const { session, differs } = error.details
  if (error.code === "session/live" && typeof session === "string") {
    return takeUp(hub, request, { session, differs: Array.isArray(differs) ? differs.map(String) : [] })
  }
  if (error.code !== "auth/forbidden") throw error
  if (args.length > 0) throw notForThisToken(args, error)
  if (settingSources?.length !== 0) throw error
  return start(hub, plain).catch((again: unknown) => startOtherwise(hub, plain, again))
}

/**
 * The conversation that is to be resumed has a living agent: the program that detached left it. It is taken up as it is. For
 * what it was not started with, and only a new process can be given, it makes place for one, unless it is at work.
 */
async function takeUp(
  hub: Hub,
  request: LaunchRequest,
  { session: id, differs }: { session: string; differs: readonly string[] },
): Promise<Start> {
  const wanted = [...differs, ...flagsIn(request.args ?? [])]
  if (wanted.length === 0) return named(id)
  const session = hub.session(id)
  if ((await session.get()).state !== "idle") throw atWork(id, wanted)
  await session.stop()
  return start(hub, request)
}

function atWork(session: string, flags: readonly string[]): SdkError {
  const message = `session ${session} is at work, and ${flags.join(", ")} would need another process: wait for its end, or leave them out`
  return new SdkError("hub/refused", message, { details: { session, flags } })
}

function launchRequest({ options, cwd, firstLine }: HubOpening, crossing: CrossingArguments): LaunchRequest {
  const { model, permissionMode, resume, options: given, args } = crossing
  const { agent, runner, title } = options
  const initialize = initializeIn(firstLine)
  const hooks = Object.keys(fieldOf(initialize, "hooks") ?? {})
  return {
    ...defined({ agent, runner, title, cwd, model, permissionMode, resume }),
    ...(crossing.isContinued ? { continue: true } : {}),
    ...(crossing.fork ? { fork: true } : {}),
    ...(hooks.length === 0 ? {} : { hooks }),
    ...given,
    ...optionsIn(initialize),
    ...(args.length === 0 ? {} : { args }),
  }
}

/**
 * The hub greets the agent before the program does: it must know what the program's `initialize` says, and the events of its
 * hooks, which older CLIs take only then.
 */
function initializeIn(firstLine: string): Readonly<Record<string, unknown>> {
  const request = fieldOf(parseObject(firstLine), "request")
  return request?.["subtype"] === "initialize" ? request : {}
}

/** Before anything is started: what the hub would refuse is refused here, by its name. */
function optionsIn(initialize: Readonly<Record<string, unknown>>): LaunchOptions {
  const [option] = uncarriedFields(initialize)
  if (option !== undefined) {
    const message = `${option} cannot be used with an agent on a hub: the hub cannot be told it. Leave it out`
    throw new SdkError("sdk/bad-option", message, { details: { option } })
  }
  try {
    return optionsOfInitialize(initialize)
  } catch (cause) {
    throw new SdkError("sdk/bad-option", cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function notForThisToken(args: readonly string[], cause: unknown): SdkError {
  const flags = flagsIn(args)
  const message = `the hub refused: this token may not start an agent with ${flags.join(", ")}; leave them out, or use an admin's token`
  return new SdkError("auth/forbidden", message, { cause, details: { flags } })
}
