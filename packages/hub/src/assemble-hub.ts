import { type Rule, rulesFromUpdate } from "@signalbox/policy"
import { isObject } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import type { RunnerRequest } from "@signalbox/protocol/runner-wire"
import { ReadingTurns } from "@signalbox/transport"
import { AgentIngress } from "./agents/ingress.ts"
import { AskingSessions } from "./asking-sessions.ts"
import { AskDesk } from "./asks/ask-desk.ts"
import { AskReader } from "./asks/whole-ask.ts"
import type { Authority } from "./auth/authority.ts"
import { ClientDesks } from "./clients/client-desks.ts"
import { ClientDoors } from "./clients/client-doors.ts"
import { Enforcement } from "./clients/enforcement.ts"
import type { Cluster } from "./cluster/cluster.ts"
import type { Hubs } from "./cluster/hubs.ts"
import { HubError, unlessMoved } from "./errors.ts"
import type { ReplyRoom } from "./http/reply.ts"
import { LocalHubCore } from "./hub-core.ts"
import type { Ask } from "./model/ask.ts"
import type { HubLogger } from "./operations/logger.ts"
import type { HubMetrics } from "./operations/metrics.ts"
import { GrantDesk, PolicyDesk, RuleUses, SettingsDesk } from "./policy-desk.ts"
import { PolicyTests } from "./policy-tests.ts"
import { Retention } from "./retention.ts"
import { LaunchDesk } from "./runners/launch-desk.ts"
import { ProcessEndings } from "./runners/process-endings.ts"
import { tellHooks } from "./runners/runner-agent.ts"
import { RunnerClaims, RunnerRefusals } from "./runners/runner-claims.ts"
import { RunnerDesk } from "./runners/runner-desk.ts"
import { RunnerDoor } from "./runners/runner-door.ts"
import { RunnerFleet, type RunnerFleetOptions } from "./runners/runner-fleet.ts"
import { RunDesk } from "./runs/run-desk.ts"
import type { LiveSession } from "./session/live-session.ts"
import { SessionRegistry } from "./session/session-registry.ts"
import type { Store } from "./store/open-store.ts"
import { movedError } from "./store/store-failure.ts"
import { FanOut } from "./viewers/fan-out.ts"
import { Following } from "./viewers/following.ts"
import { StreamDoor } from "./viewers/stream-door.ts"

export interface HubPartsOptions {
  readonly store: Store
  readonly logger: HubLogger
  readonly metrics: HubMetrics
  readonly authority: Authority
  readonly anonymousAgents: boolean
  readonly anonymousRelay: boolean
  readonly replyRoom: ReplyRoom
  /** Where the hub is reached, once it listens. */
  readonly url: () => string
  readonly claudeVersion: () => Promise<string | undefined>
  /** Those on the same store; `counts` tells them of this one. */
  readonly hubs: Hubs
  /** Where hubs share the store. */
  readonly cluster?: Cluster | undefined
  /** How long a runner that is being started is waited for, and the hub's version. */
  readonly fleet?: Pick<RunnerFleetOptions, "expectForMs" | "version">
}

export type HubParts = Awaited<ReturnType<typeof assembleHub>>

/** Puts the rooms of a hub together and brings back what its store has. Nothing listens yet. */
export async function assembleHub(options: HubPartsOptions) {
  const { store, logger, metrics, authority, cluster } = options
  const { log, directory } = store
  const fanOut = new FanOut()
  const policy = new PolicyDesk(directory)
  const settingsDesk = new SettingsDesk(directory)
  const settings = () => settingsDesk.settings
  const trouble = (session: LiveSession, what: string, error: unknown) =>
    logger.warn({ session: session.id, err: error }, what)
  const { tokens } = authority
  const now = cluster && (() => cluster.membership.now())
  const registry = new SessionRegistry({
    log,
    directory,
    viewers: fanOut,
    metrics,
    tokens,
    trouble,
    ownership: cluster?.ownership,
    hubId: cluster?.membership.id,
    now,
  })
  const enforcement = new Enforcement({ policy, directory, trouble })
  const grants = openGrants(store, (id) => registry.loaded(id))
  const uses = new RuleUses(directory, now)
  const reader = new AskReader(log)
  const sessions = new AskingSessions({ registry, policy, grants, uses, enforcement, fanOut, metrics })
  const asks = new AskDesk({ directory, reader, grants, uses, sessions, now })
  const desks = new ClientDesks({ directory, registry, hooksChanged: tellHooks, enforcement, trouble })
  const warn = (what: string, error: unknown) => logger.warn({ err: error }, what)
  const claims = new RunnerClaims({
    directory,
    isLive: (id) => tokens.getLive(id) !== undefined,
    meet: (id) => tokens.meetId(id),
    trouble: warn,
  })
  const refusals = new RunnerRefusals({ directory, claims, tokens, trouble: warn })
  const fleet = new RunnerFleet({
    directory,
    claims,
    metrics,
    trouble: warn,
    shared: cluster?.runners,
    onElsewhere: (id, isNew) => runnerDesk.elsewhere(id, isNew),
    ...options.fleet,
  })
  const endings = new ProcessEndings(fleet)
  const launches = new LaunchDesk({ registry, fleet, endings, directory, log, settings: settingsDesk, policy, trouble })
  registry.connect({ asks, grants, uses, clients: desks, launches })
  const turns = new ReadingTurns()
  const isShared = cluster !== undefined
  const desk = { registry, fleet, claims, refusals, launches, endings, hub: options.url, isShared }
  const runnerDesk = new RunnerDesk(desk)
  const runnerDoor = new RunnerDoor({
    registry,
    authority,
    metrics,
    turns,
    endings,
    refusals,
    desk: runnerDesk,
    journal: store.journal,
    clients: desks,
    epochOf: store.epochOf,
    onTrouble: warn,
  })
  const retention = new Retention({
    registry,
    directory,
    log,
    asks,
    tokens,
    viewers: fanOut,
    store,
    settings,
    trouble: warn,
    ...(cluster && { isFirst: () => cluster.membership.isFirst }),
  })
  await Promise.all([policy.load(), uses.load(), settingsDesk.load(), fleet.load()])
  // Read before this hub had joined the others: what they changed in between was not told here.
  if (cluster !== undefined) await authority.refresh()
  const warnOfAutoApproval = () => {
    if (policy.policy.relayAutoApproval)
      logger.warn("relayAutoApproval is on: frontends of the plain relay have every tool approved, and nobody is asked")
  }
  warnOfAutoApproval()
  policy.watch(warnOfAutoApproval)
  /** A session that another hub has, unless this one has claimed it again since. */
  const departed = (id: string, epoch: number) => {
    if (store.epochOf?.(id) !== epoch) return
    const session = registry.loaded(id)
    if (session === undefined) cluster?.ownership.drop(id)
    else registry.depart(session, movedError(id))
  }
  const refresh = async () => {
    const shared = [policy, uses, authority, fleet]
    await Promise.all([settingsDesk.load(), ...shared.map((each) => each.refresh())])
    for (const { session, epoch } of (await cluster?.ownership.lost()) ?? []) departed(session, epoch)
  }
  cluster?.connect({
    refresh,
    async adopt() {
      await registry.restore()
      runnerDesk.adopted()
    },
    release: (id, come) => release({ registry, launches }, id, come),
    requestRunner: (id, body) => requestRunner(fleet, id, body),
    stream: (upgrade) => streamDoor.admitFellow(upgrade),
    client: (upgrade) => clientDoors.handleUpgrade(upgrade),
  })
  await registry.restore()
  const core = new LocalHubCore({
    registry,
    log,
    directory,
    reader,
    asks,
    grants,
    policy,
    policyTests: new PolicyTests({ policy, directory, uses, backtests: store.backtests }),
    settings: settingsDesk,
    retention,
    desks,
    tokens,
    fleet,
    launches,
    endings,
    runs: new RunDesk({ directory }),
    hubs: options.hubs,
    ...(cluster && {
      describe: (ids) => cluster.ownership.describe(ids),
      once: (key, start) => cluster.ownership.once(key, start),
    }),
    viewers: fanOut,
    index: store.search,
    url: options.url,
    claudeVersion: options.claudeVersion,
    now,
  })
  const ingress = new AgentIngress({
    registry,
    log,
    directory,
    authority,
    metrics,
    turns,
    journal: store.journal,
    anonymousAgents: options.anonymousAgents,
    policy,
    onTrouble: warn,
  })
  const following =
    cluster &&
    new Following({
      hubs: cluster,
      own: fanOut,
      isWatched: () => streamDoor.count > 0,
      load: (id) => registry.get(id),
      isHere: (id) => registry.loaded(id) !== undefined,
      store: core,
      trouble: warn,
    })
  const own = {
    fanOuts: [fanOut],
    tellOpenAsks: (id: string | undefined, tell: TellAsk) => asks.tellOpen(id, tell),
    find: async (id: string) => ({ session: await registry.get(id), fanOut }),
  }
  const everywhere = following && {
    fanOuts: [fanOut, following.fanOut],
    tellOpenAsks: async (id: string | undefined, tell: TellAsk) => {
      await asks.tellOpen(id, tell)
      for (const ask of following.openAsks(id)) if (!(await tell(ask))) return
    },
    find: (id: string) => following.find(id),
  }
  const streamDoor = new StreamDoor({
    authority,
    metrics,
    core,
    ...(everywhere ?? own),
    own: { ...own, forFellow: { sessions: () => viewsHere(registry) } },
    onEntered: () => following?.connect(),
  })
  const clientDoors = new ClientDoors({
    hub: { authority, metrics, log, replyRoom: options.replyRoom, registry, fanOut, asks, desks, settings },
    core,
    dialElsewhere: cluster && ((...client) => cluster.forwarding.dialClient(...client)),
    anonymousRelay: options.anonymousRelay,
    isAutoApproving: () => policy.policy.relayAutoApproval,
    watchPolicy: (changed) => policy.watch(changed),
    trouble: warn,
  })
  const settle = async () => {
    following?.close()
    await retention.close()
    await registry.close()
    await desks.settled()
    await fleet.settled()
    claims.close()
    asks.close()
  }
  const counts = () => ({ sessions: registry.count, runners: fleet.countHere, viewers: streamDoor.count })
  /** Other hubs may have taken over what this one had. */
  const giveUp = (why: string) => {
    registry.giveUp()
    for (const door of [streamDoor, runnerDoor, clientDoors]) door.sendAway(why)
  }
  return { core, ingress, fleet, runnerDoor, streamDoor, clientDoors, counts, settle, giveUp, departed }
}

type TellAsk = (ask: Ask) => Promise<boolean>

function* viewsHere(registry: SessionRegistry): Iterable<Session> {
  for (const session of registry.allLoaded()) if (!session.isDraft) yield session.view()
}

interface Releasing {
  readonly registry: SessionRegistry
  readonly launches: LaunchDesk
}

interface Come {
  /** Its process, unless it dialled in by itself. */
  readonly spawn: string | undefined
  readonly next: string | undefined
}

/** The session's agent has come to the hub `next`. */
async function release({ registry, launches }: Releasing, id: string, { spawn, next }: Come): Promise<void> {
  // It may be this hub's and not in its memory: it gave everything up when it lost its lease, and nobody came for it.
  const session = await registry.find(id).catch(unlessMoved)
  if (session === undefined) return
  await launches.settled(session)
  const { launch } = session.kept.own
  const isKnown =
    spawn === undefined ? launch === undefined : launch?.spawn === spawn || launch?.earlier.includes(spawn)
  if (isKnown !== true) throw new HubError("session/no-agent", "the session has no such process")
  if (registry.loaded(id) === session) await registry.handOver(session, next)
}

function requestRunner(fleet: RunnerFleet, id: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
  const { request, timeoutMs } = body
  if (!isObject(request) || typeof timeoutMs !== "number")
    throw new HubError("request/invalid", "no request for a runner")
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fellow hub made it, as this one does
  return fleet.requestHere(id, request as unknown as RunnerRequest, Math.min(timeoutMs, MAX_RUNNER_MS))
}

/** No hub waits longer for a runner. */
const MAX_RUNNER_MS = 120_000

function openGrants(store: Store, find: (sessionId: string) => LiveSession | undefined): GrantDesk<Rule> {
  return new GrantDesk<Rule>({
    directory: store.directory,
    toRules: (grant) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a client sent it; if it is none, no rule comes of it
      rulesFromUpdate(grant.update as Parameters<typeof rulesFromUpdate>[0], {
        id: `grant:${grant.id}`,
        session: grant.sessionId,
        cwd: find(grant.sessionId)?.record.cwd ?? undefined,
        reason: `${grant.grantedBy} allowed it for this session`,
      }),
    machineOf: (sessionId) => find(sessionId)?.record.runner ?? null,
  })
}
