import { setImmediate as nextTurn } from "node:timers/promises"
import type { Enforce, HubSettings, NewSession } from "@signalbox/protocol/hub-api"
import { differingOptions, type LaunchOptions } from "@signalbox/protocol/launch-options"
import { launchRefusal } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import { ACTOR, type Caller } from "../model/access.ts"
import type { KeptLaunch, Origin } from "../model/session-record.ts"
import type { Launch } from "../session/agent-seat.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { Directory } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import {
  agentOf,
  beginningOf,
  continued,
  firstMessage,
  goingOnFrom,
  type LaunchPlan,
  type PlanOptions,
  planLaunch,
  readLaunched,
  withInherited,
  withMode,
} from "./launch-plan.ts"
import { type ProcessEndings, StrayProcesses } from "./process-endings.ts"
import type { RunnerFleet } from "./runner-fleet.ts"

export interface LaunchDeskOptions {
  readonly registry: SessionRegistry
  readonly fleet: RunnerFleet
  readonly endings: ProcessEndings
  readonly directory: Pick<Directory, "addAudit" | "putDocument">
  readonly log: Pick<EventLog, "find">
  readonly settings: { readonly settings: HubSettings }
  readonly policy: { readonly enforce: Enforce }
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
  readonly now?: () => Date
}

/** The document that says when somebody last asked for an agent. */
const LAUNCHING = "launching"
/** A runner may let starts wait for each other. */
const LAUNCH_TIMEOUT_MS = 60_000
/** Reasons that may be over in a moment: it is tried again when the runner tells how it is doing. */
const PASSING: ReadonlySet<unknown> = new Set(["runner/full", "runner/away", "runner/no-answer", "hub/busy"])
/** After these the process may have been started all the same. */
const UNCERTAIN: ReadonlySet<string> = new Set(["runner/away", "runner/no-answer"])

interface Start {
  readonly session: LiveSession
  readonly plan: LaunchPlan
  readonly by: string
  readonly what: "session/launched" | "session/resumed"
  readonly launch: Launch
  /** Gives it its first message before its agent can be here: so it comes to work, and is not told to be idle first. */
  readonly prompt?: () => Promise<unknown>
}

/** Starts agents on runners, and starts them again when there is something to say to them. */
export class LaunchDesk {
  readonly #options: LaunchDeskOptions
  readonly #creating = new Map<string, Promise<LiveSession>>()
  readonly #strays = new StrayProcesses()
  /** First messages that are on their way to sessions whose agents were just started. */
  readonly #prompting = new Map<string, Promise<unknown>>()

  constructor(options: LaunchDeskOptions) {
    this.#options = options
  }

  /** The same `requestKey` again is the same session, also while the first is under way. */
  async create(request: NewSession, caller: Caller): Promise<LiveSession> {
    const { requestKey } = request
    if (requestKey === undefined) return this.#create(request, caller)
    const underWay = this.#creating.get(requestKey)
    if (underWay !== undefined) return underWay
    const creating = this.#createOnce(request, requestKey, caller).finally(() => this.#creating.delete(requestKey))
    this.#creating.set(requestKey, creating)
    return creating
  }

  async #createOnce(request: NewSession, requestKey: string, caller: Caller): Promise<LiveSession> {
    const known = await this.#options.registry.byRequestKey(requestKey)
    return known === undefined ? this.#create(request, caller) : this.#prompt(known, request, caller)
  }

  /** The session has ended and somebody wants to go on. Fails with session/no-agent and the reason. */
  revive(session: LiveSession, by: string): Promise<void> {
    if (session.launch !== undefined) return session.launch.done
    // Somebody else's wish was first.
    if (!session.isEnded && !session.isParked) return Promise.resolve()
    return this.#begin(session, (launch) => this.#revive(session, by, launch))
  }

  /** Resolves when a start of this session's agent that is under way is over, with all that belongs to it. */
  async settled(session: LiveSession): Promise<void> {
    await session.launch?.done.catch(() => undefined)
    await nextTurn()
    await this.#prompting.get(session.id)?.catch(() => undefined)
  }

  stop(session: LiveSession, reason: string): Promise<void> {
    return this.#options.endings.stop(session, reason)
  }

  /** An agent that rests or has ended is awaited: it is brought back now, or as soon as its runner can. */
  wake(session: LiveSession): void {
    const { launch } = session.kept.own
    if (!session.isAwaited || session.launch !== undefined || launch === undefined) return
    if (this.#options.fleet.isHere(launch.runner)) void this.#wake(session)
  }

  /** The runner is here, or has told how it is doing: what could not be woken may be now. */
  wakeAll(runner: string): void {
    for (const session of this.#options.registry.allLoaded()) {
      if (session.kept.own.launch?.runner === runner) this.wake(session)
    }
  }

  /** As long as it is under way, the session's life tells so. */
  #begin(session: LiveSession, start: (launch: Launch) => Promise<void>): Promise<void> {
    const launch: Launch = { spawn: undefined, done: Promise.resolve() }
    session.step({ kind: "launching", launch })
    launch.done = start(launch).finally(() => session.step({ kind: "launch-over", launch }))
    return launch.done
  }

  /** A process that its session does not want. Resolves when it is gone, or was not to be reached in time. */
  stopStray(sessionId: string, { runner, spawn }: { runner: string; spawn: string }): Promise<void> {
    this.#strays.add(sessionId, spawn)
    return this.#stopStrays(sessionId, runner)
  }

  async #stopStrays(sessionId: string, runner: string): Promise<void> {
    await this.#strays.stop(sessionId, async (request, timeoutMs) =>
      this.#options.fleet.request(runner, request, timeoutMs),
    )
  }

  async #create(request: NewSession, caller: Caller): Promise<LiveSession> {
    // Refused at once while the disk is full: no agent is started that the hub could not remember.
    await this.#options.directory.putDocument(LAUNCHING, { at: this.#now() }, { synced: true })
    const session = await this.#launch(request, caller)
    try {
      const prompting = this.#prompt(session, request, caller)
      this.#prompting.set(session.id, prompting)
      return await prompting.finally(() => this.#prompting.delete(session.id))
    } catch (error) {
      // A caller with a key asks again and finds it; nobody else would.
      if (request.requestKey === undefined) await this.#options.endings.stop(session, "its prompt could not be kept")
      throw error
    }
  }

  async #launch(asked: NewSession, caller: Caller): Promise<LiveSession> {
    const request = asked.continue === true ? await continued(asked, this.#options.fleet) : asked
    const { resume } = request
    const source = resume === undefined ? undefined : await this.#sourceOf(resume, request.fork === true)
    if (source === undefined) return this.#launchNew({ request, caller, resume })
    return request.fork === true ? this.#fork(source, request, caller) : this.#resume(source, request, caller)
  }

  /** A session's id means the newest of its chain, unless it is forked; the CLI's own id means that one conversation. */
  async #sourceOf(resume: string, isFork: boolean): Promise<LiveSession | undefined> {
    const { registry } = this.#options
    const own = await (isFork ? registry.find(resume) : registry.newestOf(resume))
    const named = own ?? (await registry.byAgentId(resume))
    if (named?.record.next === undefined || isFork) return named
    const message = `the conversation ${resume} went on in session ${named.record.next}: resume that, or fork this with "fork":true`
    throw new HubError("session/rotated", message, { details: { next: named.record.next } })
  }

  async #launchNew(how: { request: NewSession; caller: Caller; resume: string | undefined; origin?: Origin }) {
    const { registry, fleet } = this.#options
    const { caller, resume, origin = {} } = how
    const request = withMode(how.request)
    const runner = await fleet.choose(request.runner, agentOf(request))
    const session = registry.draft(request, { startedBy: caller.name, ...origin })
    const plan = this.#plan({ session: session.id, runner, request, resume })
    // Without a key it would be another message when it is given again, as it is after the start, where its failure is told.
    const prompt = request.requestKey === undefined ? {} : { prompt: () => this.#prompt(session, request, caller) }
    const start = { session, plan, by: caller.name, what: "session/launched", ...prompt } as const
    try {
      await this.#begin(session, (launch) => this.#start({ ...start, launch }))
    } finally {
      if (session.isDraft) registry.discard(session)
    }
    return session
  }

  async #fork(source: LiveSession, request: NewSession, caller: Caller): Promise<LiveSession> {
    const { agentSessionId } = source.record
    if (agentSessionId === null) {
      throw new HubError("request/invalid", "resume: this session has said nothing yet, so there is nothing to fork")
    }
    const whole = this.#inherit(request, source)
    this.#requireLaunch(caller, whole)
    const cut = request.resumeAt === undefined ? undefined : await this.#options.log.find(source.id, request.resumeAt)
    const origin = { parent: source.id, parentSeq: cut?.seq ?? source.record.lastSeq }
    return this.#launchNew({ request: whole, caller, resume: agentSessionId, origin })
  }

  /** The conversation goes on in the session it has. */
  async #resume(session: LiveSession, request: NewSession, caller: Caller): Promise<LiveSession> {
    const { registry, fleet } = this.#options
    const isFree = () => (session.isEnded || session.isParked) && session.launch === undefined
    // The process it had may be over when its runner is here.
    if (!isFree()) await fleet.arrival()
    // When two resume a session at the same time, the second is told that it is live.
    if (!isFree()) throw isLive(session, request)
    const whole = this.#inherit(request, session)
    // As it was, anybody may bring it back who may send it a message; elsewhere or as something else it is a launch.
    if ((request.agent ?? request.cwd ?? request.runner) !== undefined) this.#requireLaunch(caller, whole)
    await this.#begin(session, async (launch) => {
      const runner = await fleet.choose(whole.runner, agentOf(whole))
      const { launch: before } = session.kept.own
      const from = goingOnFrom(session.kept)
      const asked = { ...whole, ...from }
      const plan = this.#plan({ session: session.id, runner, request: asked, resume: from.resume, before })
      await this.#start({ session, plan, by: caller.name, what: "session/resumed", launch })
    })
    session.change({ startedBy: caller.name })
    if (request.requestKey !== undefined) registry.rekey(session, request.requestKey)
    if (request.title !== undefined) session.change({ title: request.title })
    return session
  }

  async #revive(session: LiveSession, by: string, launch: Launch): Promise<void> {
    const { fleet } = this.#options
    const { launch: before } = session.kept.own
    if (before === undefined) throw noAgent("the session has ended, and its agent was started by hand")
    await fleet.arrival(before.runner)
    if (!fleet.isHere(before.runner)) {
      const why = `the session has ended, and its runner ${fleet.nameOf(before.runner)} is not connected`
      throw noAgent(why, "runner/away")
    }
    try {
      await this.#startAgain(session, before, { by, launch })
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      throw noAgent(`the session has ended and could not be resumed (${error.message})`, error.code)
    }
  }

  async #startAgain(session: LiveSession, before: KeptLaunch, how: Pick<Start, "by" | "launch">): Promise<void> {
    const { agentSessionId, turns } = session.record
    const { runner } = before
    const start = (from: Pick<NewSession, "resume" | "fork" | "resumeAt">) => {
      const request = this.#inherit(from, session)
      const plan = this.#plan({ session: session.id, runner, request, resume: from.resume, before })
      // Brought back, it is still what somebody launched: a mode that operators may choose today does not become its own.
      const { permissionMode: _now, ...launch } = plan.launch
      const { permissionMode } = before
      const kept = { ...plan, launch: { ...launch, ...(permissionMode !== undefined && { permissionMode }) } }
      return this.#start({ session, plan: kept, what: "session/resumed", ...how })
    }
    const from = goingOnFrom(session.kept)
    const beginning = beginningOf(session.kept)
    try {
      await start(from)
    } catch (error) {
      const isUnrecorded = error instanceof HubError && error.code === "runner/no-transcript"
      // The conversation it was to go on from is gone: an empty one would not be that.
      const isLost = beginning !== undefined && beginning.resume === from.resume
      if (!isUnrecorded || turns > 0 || agentSessionId === null || isLost) throw error
      // It never had a turn, so there is nothing of its own to go on with: it begins.
      session.change({ agentSessionId: null })
      await start(beginning ?? {})
    }
  }

  async #wake(session: LiveSession): Promise<void> {
    try {
      await this.revive(session, ACTOR.hub)
    } catch (error) {
      if (this.#isPassing(session, error)) return
      session.step({ kind: "given-up" })
      this.#options.trouble(session, "an agent could not be started again", error)
      if (!session.isParked) return
      await this.#options.endings
        .end(session, error instanceof Error ? error.message : String(error))
        .catch((failure: unknown) => this.#options.trouble(session, "a session could not be ended", failure))
    }
  }

  /** A conversation that one of our own strays has in use is free when that is gone. */
  #isPassing(session: LiveSession, error: unknown): boolean {
    const reason = error instanceof HubError ? error.details["reason"] : undefined
    return PASSING.has(reason) || (reason === "runner/session-in-use" && this.#strays.has(session.id))
  }

  async #start(start: Start): Promise<void> {
    const { session, plan, launch } = start
    launch.spawn = plan.spec.spawn
    // Nothing is awaited otherwise: the next launch is to count this one when it chooses its runner.
    if (this.#strays.has(session.id)) await this.#stopStrays(session.id, plan.runner)
    const { cwd, cliVersion, worktree } = readLaunched(await this.#askToStart(start))
    this.#requireWanted(start)
    if (session.isDraft) this.#options.registry.adopt(session)
    if (plan.options !== undefined) session.changeOwn({ options: plan.options })
    session.expect({ ...plan.launch, cwd })
    const enforce = plan.spec.enforce === true ? "everything" : session.record.enforce && "asked"
    const found = { ...(cliVersion === undefined ? {} : { cliVersion }), ...(worktree && { worktree }) }
    session.change({ cwd, ...found, ...(enforce && { enforce }) })
    await start.prompt?.().catch(() => undefined)
    try {
      await this.#audit(start, cwd)
    } catch (error) {
      // Not awaited: its end is written down when the store has room again.
      void this.#options.endings.stop(session, "its start could not be written down").catch(() => undefined)
      throw error
    }
  }

  async #askToStart({ session, plan: { runner, spec } }: Start): Promise<unknown> {
    if (spec.options !== undefined) this.#options.fleet.requireOptions(runner, Object.keys(spec.options))
    if (spec.enforce === true) this.#options.fleet.requireEnforcing(runner)
    try {
      return await this.#options.fleet.launch(runner, { kind: "launch", spec }, LAUNCH_TIMEOUT_MS)
    } catch (error) {
      // It may yet be started, or is already: nobody waits for it any more.
      if (error instanceof HubError && UNCERTAIN.has(error.code)) {
        void this.stopStray(session.id, { runner, spawn: spec.spawn })
      }
      throw error
    }
  }

  /** Somebody who stops a session while its agent is being started means that one too. */
  #requireWanted({ session, plan: { runner, spec }, launch }: Start): void {
    if (session.wants(launch)) return
    void this.stopStray(session.id, { runner, spawn: spec.spawn })
    throw new HubError("session/no-agent", "the session was stopped while its agent was being started")
  }

  /** A launch as people want to be told of it: of the variables only their names. */
  async #audit({ session, plan, by, what }: Start, cwd: string): Promise<void> {
    const { runner, spec } = plan
    const { spawn, agent, model = null, permissionMode = null, args = [], env = {} } = spec
    const { resume = null, fork = false, resumeAt } = spec
    const from = { resume, fork, ...(resumeAt === undefined ? {} : { resumeAt }) }
    const { allowedTools, additionalDirectories, settingSources, mcpServers } = plan.options ?? {}
    const widening = {
      allowedTools,
      additionalDirectories,
      settingSources,
      ...(mcpServers && { mcpServers: Object.keys(mcpServers) }),
    }
    const options = { ...widening, options: Object.keys(plan.options ?? {}) }
    const details = {
      runner,
      spawn,
      agent,
      cwd,
      model,
      permissionMode,
      enforce: spec.enforce === true ? "everything" : plan.options?.enforce,
      ...from,
      args,
      env: Object.keys(env),
      ...options,
    }
    const who = { by, via: by === ACTOR.hub ? "hub" : "person", sessionId: session.id, askId: null }
    await this.#options.directory.addAudit({ at: this.#now(), what, ...who, details }, { synced: true })
  }

  #now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }

  #plan(options: Omit<PlanOptions, "enforce">): LaunchPlan {
    return planLaunch({ ...options, enforce: this.#options.policy.enforce })
  }

  #inherit(request: NewSession, { kept }: LiveSession): NewSession {
    return withInherited(request, kept, this.#options.settings.settings)
  }

  #requireLaunch({ role }: Caller, launch: NewSession): void {
    const refusal = launchRefusal(role, launch, this.#options.settings.settings)
    if (refusal !== undefined) throw new HubError("auth/forbidden", `${refusal}, and the session was launched with it`)
  }

  async #prompt(session: LiveSession, { prompt, requestKey }: NewSession, caller: Caller): Promise<LiveSession> {
    if (prompt !== undefined) await session.send(firstMessage(session, prompt, requestKey), caller.name)
    return session
  }
}

/** `differs`: what was asked for and only another process could have. */
function isLive({ id, kept }: LiveSession, asked: LaunchOptions): HubError {
  const differs = differingOptions(asked, kept.own.options ?? {})
  const message = `session ${id} is running: send a message, stop it (DELETE), or fork it ("fork":true)`
  return new HubError("session/live", message, { details: { session: id, differs } })
}

function noAgent(why: string, reason?: string): HubError {
  const message = `${why}: make a new session, or one that resumes it`
  return new HubError("session/no-agent", message, reason === undefined ? {} : { details: { reason } })
}
