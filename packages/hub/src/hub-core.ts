import { isObject } from "@signalbox/protocol"
import type {
  AuditRecord,
  ControlCall,
  CreatedSession,
  EnvironmentReply,
  EventQuery,
  GrantRevoked,
  MessageReceipt,
  NewMessage,
  NewSession,
  OutlineMark,
  Runner,
  SearchReply,
  Session,
  SessionPage,
  SessionPatch,
  SessionQuery,
} from "@signalbox/protocol/hub-api"
import { NOT_ALLOWED } from "@signalbox/transport"
import { commandFor, refuseByHand } from "./agents/launch-command.ts"
import type { AskDesk } from "./asks/ask-desk.ts"
import { type AskReader, askPage, auditPage, type Page } from "./asks/whole-ask.ts"
import type { Tokens } from "./auth/tokens.ts"
import type { ClientDesks } from "./clients/client-desks.ts"
import { requireCarried } from "./clients/client-requests.ts"
import { steer, steerEnvironment } from "./clients/steering.ts"
import type { Hubs } from "./cluster/hubs.ts"
import type { SearchQuery } from "./core.ts"
import { HubError, unknown } from "./errors.ts"
import type { Caller } from "./model/access.ts"
import type { Ask } from "./model/ask.ts"
import type { EventPage } from "./model/event.ts"
import type { SessionRecord } from "./model/session-record.ts"
import type { GrantDesk, PolicyDesk, SettingsDesk } from "./policy-desk.ts"
import type { PolicyTests } from "./policy-tests.ts"
import type { Retention } from "./retention.ts"
import type { LaunchDesk } from "./runners/launch-desk.ts"
import { firstMessage, withMode } from "./runners/launch-plan.ts"
import type { ProcessEndings } from "./runners/process-endings.ts"
import type { RunnerFleet } from "./runners/runner-fleet.ts"
import type { RunDesk } from "./runs/run-desk.ts"
import { payloadOf, type Variables } from "./session/agent-control.ts"
import { readPage } from "./session/event-page.ts"
import type { LiveSession } from "./session/live-session.ts"
import { Outlines } from "./session/outline.ts"
import { listSessions, type SessionListOptions, viewsAtRest } from "./session/session-list.ts"
import type { SessionRegistry } from "./session/session-registry.ts"
import type { AskFilter, AuditFilter, Directory } from "./store/directory.ts"
import type { EventLog } from "./store/event-log.ts"
import type { FanOut } from "./viewers/fan-out.ts"

export interface LocalHubCoreOptions extends Pick<SessionListOptions, "describe"> {
  readonly registry: SessionRegistry
  readonly log: EventLog
  readonly directory: Directory
  readonly reader: AskReader
  readonly asks: AskDesk
  readonly grants: GrantDesk
  readonly policy: PolicyDesk
  readonly policyTests: PolicyTests
  readonly settings: SettingsDesk
  readonly retention: Retention
  /** The clients' parts: servers that are set by REST are part of the same union. */
  readonly desks: Pick<ClientDesks, "setServers">
  readonly tokens: Tokens
  readonly fleet: Pick<RunnerFleet, "list" | "request" | "shared" | "forget" | "drain">
  readonly launches: Pick<LaunchDesk, "create">
  readonly endings: Pick<ProcessEndings, "stop">
  readonly runs: RunDesk
  readonly hubs: Hubs
  readonly viewers: Pick<FanOut, "countOf" | "read" | "watchAll">
  readonly index: { search(query: SearchQuery): Promise<SearchReply> }
  /** The hub's address, as others see it. */
  readonly url: () => string
  /** Where hubs share the store, one of them at a time finds or starts the session with this key. */
  readonly once?: <T>(key: string, start: () => Promise<T>) => Promise<T>
  /** Version of the `claude` on this machine. */
  readonly claudeVersion: () => Promise<string | undefined>
  readonly now?: (() => Date) | undefined
}

const DEFAULT_ASKS = 1_000
const INTERRUPT_TIMEOUT_MS = 60_000
const END_TIMEOUT_MS = 5_000
const RUNNER_TIMEOUT_MS = 30_000

/** The same for the routes, the sockets and the tests. */
export type HubCore = Pick<LocalHubCore, keyof LocalHubCore>

/**
 * The hub's acts, without how it is reached: the HTTP routes, the sockets and the tests all stand on this. Failures are
 * HubErrors. Who may do what was decided before a call gets here, but for what depends on the thing itself.
 */
export class LocalHubCore {
  /** These desks need nothing else of the hub. */
  readonly asks: Pick<AskDesk, "answer" | "extend">
  readonly grants: Pick<GrantDesk, "list">
  readonly policy: Pick<PolicyDesk, "told" | "versions" | "version">
  readonly policyTests: Pick<PolicyTests, "test" | "explain" | "suggestions" | "put">
  readonly settings: Pick<SettingsDesk, "settings" | "put">
  readonly retention: Pick<Retention, "purge" | "prune" | "size">
  readonly runners: Pick<RunnerFleet, "list" | "request" | "shared">
  readonly runs: Pick<RunDesk, "create" | "list" | "get" | "change" | "changeTask">
  readonly hubs: Hubs
  readonly #options: LocalHubCoreOptions
  readonly #outlines: Outlines

  constructor(options: LocalHubCoreOptions) {
    this.asks = options.asks
    this.grants = options.grants
    this.policy = options.policy
    this.policyTests = options.policyTests
    this.settings = options.settings
    this.retention = options.retention
    this.runners = options.fleet
    this.runs = options.runs
    this.hubs = options.hubs
    this.#options = options
    this.#outlines = new Outlines(options.log)
    options.viewers.watchAll({ purged: (id) => this.#outlines.forget(id) })
  }

  createSession(asked: NewSession, caller: Caller): Promise<CreatedSession> {
    const create = () => this.#createSession(asked, caller)
    const { once } = this.#options
    return asked.requestKey === undefined || once === undefined ? create() : once(asked.requestKey, create)
  }

  async #createSession(asked: NewSession, caller: Caller): Promise<CreatedSession> {
    const { registry, tokens, claudeVersion, launches } = this.#options
    const known = asked.requestKey === undefined ? undefined : await registry.byRequestKey(asked.requestKey)
    const isLaunch = known === undefined ? asked.agent !== "external" : isLaunched(known)
    if (isLaunch) return (await launches.create(asked, caller)).view()
    if (known !== undefined && !isUnborn(known)) return known.view()
    const request = withMode(asked)
    refuseByHand(request, this.#options.policy)
    // Asked for before, and its agent was never here: the reply may have been lost, so it is told again.
    const session = known ?? registry.create(request, { startedBy: caller.name })
    const { secret } = await tokens.create(
      { role: "agent", name: `agent of ${session.id}`, sessionId: session.id },
      caller.name,
    )
    const url = `${this.#options.url().replace(/^http/, "ws")}/ws/cli/${session.id}`
    const { model, permissionMode, prompt, requestKey, fork, resumeAt, args } = request
    const resume = request.resume === undefined ? undefined : await this.#agentIdOf(request.resume)
    if (prompt !== undefined) await session.send(firstMessage(session, prompt, requestKey), caller.name)
    const ingress = commandFor({
      url,
      token: secret,
      model,
      permissionMode,
      resume,
      continue: request.continue,
      fork,
      resumeAt,
      args,
      options: request,
      version: await claudeVersion(),
    })
    return { ...session.view(), ingress: { url, token: secret, ...ingress } }
  }

  listSessions(query: SessionQuery): Promise<SessionPage> {
    return listSessions(this.#options, query)
  }

  async getSession(id: string): Promise<Session> {
    const session = this.#options.registry.loaded(id)
    if (session !== undefined) return session.view()
    const [view] = await viewsAtRest(this.#options, [await this.#recordOf(id)])
    if (view === undefined) throw unknown("session", id)
    return view
  }

  async patchSession(id: string, patch: SessionPatch): Promise<Session> {
    const session = await this.#options.registry.get(id)
    session.change(patch)
    return session.view()
  }

  /** How far this person has read each of these sessions, as far as they have. */
  async readMarks(ids: readonly string[], { name }: Caller): Promise<Readonly<Record<string, number>>> {
    return Object.fromEntries(await this.#options.directory.readMarks(name, ids))
  }

  /** Forward only, and not past the last event. Returns the mark as it is then. */
  async markRead(id: string, seq: number, { name }: Caller): Promise<number> {
    const { registry, directory, viewers } = this.#options
    const { lastSeq } = registry.loaded(id)?.record ?? (await this.#recordOf(id))
    const before = (await directory.readMarks(name, [id])).get(id) ?? 0
    const now = Math.min(seq, lastSeq)
    if (now <= before) return before
    await directory.markRead(name, id, now)
    viewers.read({ person: name, sessionId: id, seq: now })
    return now
  }

  /** Stops its agent, keeps its history. */
  async endSession(id: string, caller: Caller): Promise<Session> {
    const { registry, tokens } = this.#options
    const session = await registry.get(id)
    const { wire } = session
    const details = { runner: session.record.runner }
    if (!session.isEnded) await this.#audit("session/stopped", caller, { sessionId: session.id, details })
    if (isLaunched(session)) {
      await this.#options.endings.stop(session, `stopped by ${caller.name}`)
      return session.view()
    }
    if (wire !== undefined) {
      // Newer ones end by themselves when asked; the close code ends every one.
      await session.ask({ subtype: "end_session" }, END_TIMEOUT_MS).catch(() => undefined)
    }
    await session.end({ reason: `stopped by ${caller.name}` })
    await wire?.closeWith(NOT_ALLOWED, "the session was stopped").catch(() => undefined)
    // Revoke the tokens of every session that the conversation went through: nobody returns to it.
    for (const id of await registry.chainTo(session)) await tokens.revokeAll(await tokens.ofSession(id), caller.name)
    return session.view()
  }

  async sendMessage(id: string, message: NewMessage, caller: Caller): Promise<MessageReceipt> {
    return (await this.#options.registry.get(id)).send(message, caller.name)
  }

  async cancelMessage(id: string, uuid: string, caller: Caller): Promise<{ cancelled: boolean }> {
    const session = await this.#options.registry.get(id)
    const isOurs = session.messages.holds(uuid)
    const notWaiting = () => new HubError("message/unknown", `no message ${uuid} is waiting`)
    // A message that the agent has confirmed may still be in its own queue: it knows. About unknown messages it is not asked.
    if (!isOurs && (session.wire === undefined || !(await session.messages.wasSaid(uuid)))) throw notWaiting()
    const request = { subtype: "cancel_async_message", message_uuid: uuid }
    const reply = await steer(session, request, { by: caller.name, timeoutMs: INTERRUPT_TIMEOUT_MS })
    if (!isOurs && reply["subtype"] !== "success") throw notWaiting()
    const answer = payloadOf(reply, request.subtype)
    const cancelled = isObject(answer) && answer["cancelled"] === true
    if (!isOurs && !cancelled) throw notWaiting()
    return { cancelled }
  }

  async interrupt(id: string, caller: Caller): Promise<{ response: unknown }> {
    // It rests: there is nothing to interrupt, and no process to be woken for it.
    if ((await this.#options.registry.get(id)).isParked) return { response: {} }
    return this.control(id, { request: { subtype: "interrupt" }, timeoutMs: INTERRUPT_TIMEOUT_MS }, caller)
  }

  async control(id: string, call: ControlCall, caller: Caller): Promise<{ response: unknown; refused?: string }> {
    try {
      return await this.#control(id, call, caller)
    } catch (error) {
      const isRefusal =
        error instanceof HubError && (error.code === "control/refused" || error.code === "control/timeout")
      if (call.mayRefuse !== true || !isRefusal) throw error
      return { response: null, refused: error.message }
    }
  }

  async #control(id: string, { request, timeoutMs }: ControlCall, caller: Caller): Promise<{ response: unknown }> {
    const session = await this.#options.registry.get(id)
    if (request.subtype === "initialize") {
      requireCarried(session, request)
      // A REST caller is gone after the reply, so nobody would answer for these.
      const own = ["hooks", "sdkMcpServers"].find((name) => request[name] !== undefined)
      if (own !== undefined)
        throw new HubError("request/invalid", `initialize: ${own}: only a client that stays connected can bring it`)
      return { response: session.kept.own.initializeReply ?? {} }
    }
    await session.awake(timeoutMs)
    const isServers = request.subtype === "mcp_set_servers"
    const send = isServers ? { send: () => this.#options.desks.setServers(session, request) } : {}
    const reply = await steer(session, request, { by: caller.name, timeoutMs, ...send })
    return { response: payloadOf(reply, request.subtype) }
  }

  async setEnvironment(id: string, variables: Variables, caller: Caller): Promise<EnvironmentReply> {
    const session = await this.#options.registry.get(id)
    await session.awake(INTERRUPT_TIMEOUT_MS)
    const reply = payloadOf(await steerEnvironment(session, variables, caller.name), "update_environment_variables")
    const told = isObject(reply) ? reply["applied"] : undefined
    if (!Array.isArray(told)) return { applied: null, refused: null }
    const names = Object.keys(variables)
    return {
      applied: names.filter((name) => told.includes(name)),
      refused: names.filter((name) => !told.includes(name)),
    }
  }

  async readEvents(id: string, query: EventQuery): Promise<EventPage> {
    await this.#recordOf(id)
    return readPage(this.#options.log, id, query)
  }

  async outline(id: string): Promise<readonly OutlineMark[]> {
    return this.#outlines.of(id, (await this.#recordOf(id)).lastSeq)
  }

  search(query: SearchQuery): Promise<SearchReply> {
    return this.#options.index.search(query)
  }

  async listAsks(query: AskFilter): Promise<Page<Ask>> {
    const { directory, reader } = this.#options
    const { limit = DEFAULT_ASKS } = query
    // One more than is wanted tells whether there are more.
    const records = await directory.listAsks({ ...query, limit: limit + 1 })
    return askPage(reader, { records, limit })
  }

  async getAsk(id: string): Promise<Ask> {
    const { directory, reader } = this.#options
    const ask = await directory.getAsk(id)
    if (ask === undefined) throw unknown("ask", id)
    return reader.whole(ask)
  }

  /** `gone`: whether it no longer holds, or is only noted because the CLI cannot take it back. */
  async revokeGrant(id: string, caller: Caller): Promise<GrantRevoked> {
    const { directory, grants, registry } = this.#options
    const [known] = await directory.listGrants({ id, all: true })
    // The hub that has the session judges by what it has in memory: only there a grant is gone. A purged session is nowhere.
    const session = known && (await registry.find(known.sessionId))
    const revoked = await grants.revoke(id, caller.name, session?.id)
    const { sessionId, askId } = revoked.grant
    const details = { grant: revoked.grant.id, gone: revoked.gone }
    await this.#audit("grant/revoked", caller, { sessionId, askId, details })
    return revoked
  }

  async listAudit(query: AuditFilter): Promise<Page<AuditRecord>> {
    const records = await this.#options.directory.listAudit({ ...query, limit: query.limit + 1 })
    return auditPage(this.#options, { records, limit: query.limit })
  }

  /** Removes the worktree that was made for it, never with uncommitted changes. */
  async removeWorktree(id: string): Promise<Session> {
    const session = await this.#options.registry.get(id)
    const { worktree, runner } = session.record
    if (worktree === undefined || runner === null) {
      throw new HubError("request/invalid", "this session has no worktree of its own")
    }
    if (!session.isEnded) throw new HubError("session/live", "its agent works in that worktree: stop the session first")
    await this.#options.fleet.request(runner, { kind: "remove-worktree", path: worktree.path }, RUNNER_TIMEOUT_MS)
    session.forget("worktree")
    return session.view()
  }

  async changeRunner(id: string, { draining }: { draining: boolean }, caller: Caller): Promise<Runner> {
    const runner = await this.#options.fleet.drain(id, draining)
    await this.#auditRunner(runner, draining ? "runner/drained" : "runner/opened", caller)
    return runner
  }

  /** Forgets a runner that is away. Its sessions stay. */
  async forgetRunner(id: string, caller: Caller): Promise<Runner> {
    const runner = await this.#options.fleet.forget(id)
    await this.#auditRunner(runner, "runner/forgotten", caller)
    return runner
  }

  async #auditRunner({ id, name }: Runner, what: string, caller: Caller): Promise<void> {
    await this.#audit(what, caller, { details: { runner: id, name } })
  }

  async #audit(what: string, { name }: Caller, about: About): Promise<void> {
    const who = { by: name, via: "person", sessionId: null, askId: null }
    await this.#options.directory.addAudit({ at: this.now, what, ...who, ...about })
  }

  /** The CLI's own id of a conversation, by that or by ours. */
  async #agentIdOf(resume: string): Promise<string> {
    return (await this.#options.registry.keptOf(resume))?.record.agentSessionId ?? resume
  }

  async #recordOf(id: string): Promise<SessionRecord> {
    const kept = await this.#options.registry.keptOf(id)
    if (kept === undefined) throw unknown("session", id)
    return kept.record
  }

  get now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }
}

type About = Pick<AuditRecord, "details"> & Partial<Pick<AuditRecord, "sessionId" | "askId">>

/** By a runner. */
function isLaunched({ kept }: LiveSession): boolean {
  return kept.own.launch !== undefined
}

/** Made for an agent that was never here. */
function isUnborn(session: LiveSession): boolean {
  const { incarnation, agent } = session.kept.own
  return incarnation === null && agent === "external" && !session.isEnded
}
