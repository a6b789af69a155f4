import { createHash, randomUUID } from "node:crypto"
import { isObject, textOf } from "@signalbox/protocol"
import type { Enforce, HubSettings, NewMessage, NewSession } from "@signalbox/protocol/hub-api"
import {
  DEFAULT_MODE,
  flagOptionsIn,
  initializeNames,
  type LaunchOptions,
  launchOptionsIn,
} from "@signalbox/protocol/launch-options"
import type { LaunchAgent, Launched, LaunchSpec } from "@signalbox/protocol/runner-wire"
import { isOperatorsMode } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import type { Beginning, KeptLaunch, KeptSession } from "../model/session-record.ts"
import type { RunnerFleet } from "./runner-fleet.ts"

/** The process that a runner is asked to start, and what is kept of it. */
export interface LaunchPlan {
  readonly runner: string
  readonly spec: LaunchSpec
  readonly launch: KeptLaunch
  /** Kept with the session, beside the launch: one that is brought by hand has them too. */
  readonly options: LaunchOptions | undefined
}

const MAX_EARLIER = 20

/** A new conversation always names its mode. */
export function withMode(request: NewSession): NewSession {
  return { permissionMode: DEFAULT_MODE, ...request }
}

/** A request that goes on from a session that there is: what it leaves out is as it was there. */
export function withInherited(request: NewSession, kept: KeptSession, settings: HubSettings): NewSession {
  const { record, own } = kept
  const { launch } = own
  const { args, env } = launch ?? {}
  const cwd = launch?.cwd ?? record.cwd
  const model = record.model ?? launch?.model
  const mode = modeOf(kept, settings)
  return {
    ...(launch === undefined ? {} : { agent: launch.agent }),
    ...(cwd === null ? {} : { cwd }),
    ...(model == null ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    ...own.options,
    ...(launch === undefined ? {} : { runner: launch.runner }),
    ...request,
  }
}

/**
 * The mode it was in. One that asks nobody counts only if the session was launched with it: whoever may not set such a
 * mode must not get it by sending a message either.
 */
function modeOf({ record, own }: KeptSession, settings: HubSettings): string | undefined {
  const { permissionMode } = record
  return permissionMode !== null && isOperatorsMode(permissionMode, settings)
    ? permissionMode
    : own.launch?.permissionMode
}

/** The conversation it goes on from when it is started again: its own, or what that was to begin with. */
export function goingOnFrom(kept: KeptSession): Pick<NewSession, "resume" | "fork" | "resumeAt"> {
  const { agentSessionId } = kept.record
  return agentSessionId === null ? (beginningOf(kept) ?? {}) : { resume: agentSessionId }
}

export function beginningOf({ record, own }: KeptSession): Omit<Beginning, "session"> | undefined {
  if (own.launch?.begins?.session !== record.id) return undefined
  const { session: _own, ...beginning } = own.launch.begins
  return beginning
}

export interface PlanOptions {
  readonly session: string
  readonly runner: string
  readonly request: NewSession
  /** The CLI's own id of the conversation to go on with. */
  readonly resume?: string | undefined
  /** The session's launch before this one. */
  readonly before?: KeptLaunch | undefined
  /** The policy's own: it counts where the request says nothing. */
  readonly enforce: Enforce
}

export function planLaunch({ session, runner, request, resume, before, enforce }: PlanOptions): LaunchPlan {
  const { cwd, model, permissionMode, args, env, fork, resumeAt, worktree } = request
  const agent = agentOf(request)
  const spawn = randomUUID()
  const cut = resumeAt === undefined ? {} : { resumeAt }
  const settings = {
    ...(model === undefined ? {} : { model }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    ...((request.enforce ?? enforce) === "everything" ? { enforce: true as const } : {}),
  }
  const flags = flagOptionsIn(request)
  const initializes = initializeNames(request)
  const from = resume === undefined ? undefined : { resume, ...(fork === true ? { fork, ...cut } : {}) }
  const spec: LaunchSpec = {
    spawn,
    session,
    agent,
    ...settings,
    ...(flags === undefined ? {} : { options: flags }),
    ...(initializes.length === 0 ? {} : { initializes }),
    ...(cwd === undefined ? {} : { cwd }),
    ...from,
    ...(worktree === undefined || worktree === false ? {} : { worktree }),
  }
  const earlier = before === undefined ? [] : earlierOf(before)
  const begins = from === undefined ? {} : { begins: { session, ...from } }
  const living = { spawn, earlier, elsewhere: elsewhereOf(earlier, runner, before) }
  const launch = { runner, agent, cwd: cwd ?? null, ...settings, ...living, ...begins }
  return { runner, spec, launch, options: launchOptionsIn(request) }
}

export function agentOf({ agent = "claude" }: NewSession): LaunchAgent {
  if (agent !== "external") return agent
  throw new HubError("request/invalid", 'agent: "external" is started by hand, and nothing can be launched for it')
}

/** The processes of a session that are over, or will be as soon as there is a new one. */
export function earlierOf({ earlier, spawn }: KeptLaunch): readonly string[] {
  return spawn === null ? earlier : [...earlier, spawn].slice(-MAX_EARLIER)
}

/** The runner of each of these processes that is on another one. */
function elsewhereOf(earlier: readonly string[], runner: string, before: KeptLaunch | undefined) {
  const runners = earlier.map((spawn) => [spawn, before?.elsewhere?.[spawn] ?? before?.runner ?? runner] as const)
  return Object.fromEntries(runners.filter(([, has]) => has !== runner))
}

/** The runner that a process of this launch is on. Undefined: an older hub started it and did not keep where. */
export function runnerOf({ runner, spawn, elsewhere }: KeptLaunch, process: string): string | undefined {
  if (process === spawn) return runner
  return elsewhere === undefined ? undefined : (elsewhere[process] ?? runner)
}

/** The runner's word on what it started. */
export function readLaunched(value: unknown): Omit<Launched, "spawn" | "pid"> {
  const cwd = textOf(value, "cwd")
  if (!isObject(value) || cwd === undefined) {
    throw new HubError("runner/invalid", "the runner's answer cannot be read: is it of another version than the hub?")
  }
  const cliVersion = textOf(value, "cliVersion")
  const path = textOf(value["worktree"], "path")
  const branch = textOf(value["worktree"], "branch")
  return {
    cwd,
    ...(cliVersion === undefined ? {} : { cliVersion }),
    ...(path === undefined || branch === undefined ? {} : { worktree: { path, branch } }),
  }
}

const TIMEOUT_MS = 30_000
/** An agent that is given no folder works here. */
const HOME = "~"

/** The request with `resume` in the place of `continue`: the hub must know the conversation, which may be a session of its own. */
export async function continued(request: NewSession, fleet: RunnerFleet): Promise<NewSession> {
  const { continue: _asked, ...rest } = request
  const { cwd = HOME, env } = request
  const runner = await fleet.choose(request.runner, agentOf(request))
  const listed = await fleet.request(runner, { kind: "sessions", cwd, ...(env && { env }) }, TIMEOUT_MS)
  const resume = newestOf(isObject(listed) ? listed["sessions"] : listed)
  if (resume !== undefined) return { ...rest, runner, resume }
  const message = `no conversation is recorded in ${cwd} on ${fleet.nameOf(runner)}: choose another folder or machine, or leave continue out to begin a new session`
  throw new HubError("runner/no-transcript", message)
}

/** The newest comes first. A record without a folder has no message yet, so nothing could go on. */
function newestOf(sessions: unknown): string | undefined {
  const list: readonly unknown[] = Array.isArray(sessions) ? sessions : []
  return textOf(
    list.find((each) => textOf(each, "cwd") !== undefined),
    "sessionId",
  )
}

/** A session's first message. Its `uuid` follows from the request's key: however often it is asked for, it is one message. */
export function firstMessage({ id }: { readonly id: string }, content: string, requestKey?: string): NewMessage {
  return requestKey === undefined ? { content } : { content, uuid: uuidOf(`${id} ${requestKey}`) }
}

function uuidOf(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex")
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}
