import { join } from "node:path"
import { type Rule, rulesFromUpdate } from "@signalbox/policy"
import { AgentIngress } from "./agents/ingress.ts"
import { AskDesk } from "./asks/ask-desk.ts"
import { GrantDesk } from "./asks/grant-desk.ts"
import { type AdminToken, ensureAdminToken, ensureDataDirectory } from "./auth/admin-token.ts"
import { Authority } from "./auth/authority.ts"
import { checkBinding, settleExposure } from "./auth/exposure.ts"
import { ClientDesks } from "./clients/client-desks.ts"
import { ClientDoors } from "./clients/client-doors.ts"
import type { HubCore } from "./core.ts"
import { createHttpApp } from "./http/app.ts"
import type { ListeningAddress } from "./http/listen.ts"
import { refuseUpgrade } from "./http/refuse-upgrade.ts"
import { createHttpServer } from "./http/server.ts"
import { LocalHubCore } from "./hub-core.ts"
import type { Ask } from "./model/ask.ts"
import { takeDataLock } from "./operations/data-lock.ts"
import { createLogger, type HubLogger } from "./operations/logger.ts"
import { createPrometheusMetrics } from "./operations/prometheus-metrics.ts"
import { PolicyDesk } from "./policy-desk.ts"
import { LiveSession } from "./session/live-session.ts"
import { SessionRegistry } from "./session/session-registry.ts"
import { openStore, type Store } from "./store/open-store.ts"
import { FanOut } from "./viewers/fan-out.ts"
import { StreamDoor } from "./viewers/stream-door.ts"

export interface HubOptions {
  /** Made with 0700 when it is not there. */
  readonly dataDirectory: string
  readonly host?: string
  /** Left out: 8765 or the next free one. 0: any. */
  readonly port?: number
  readonly publicUrl?: string
  readonly allowOrigins?: readonly string[]
  readonly anonymousAgents?: boolean
  readonly anonymousRelay?: boolean
  readonly plaintextUnderstood?: boolean
  readonly version?: string
  readonly logger?: HubLogger
  /** Of the `claude` on this machine, for the command lines that are offered. */
  readonly claudeVersion?: () => Promise<string | undefined>
}

export interface Hub {
  readonly address: ListeningAddress
  readonly admin: AdminToken
  readonly core: HubCore
  /** For a browser that is opened by whoever started the hub: single use, valid for a minute. */
  createLoginCode(): string
  /** Agents and viewers are told to come back; what was promised is on the disk. */
  close(): Promise<void>
}

const DEFAULT_HOST = "127.0.0.1"

/** A hub of its own on this machine. Somebody must close it. */
export async function openHub(options: HubOptions): Promise<Hub> {
  const host = options.host ?? DEFAULT_HOST
  const exposure = settleExposure({ publicUrl: options.publicUrl, allowOrigins: options.allowOrigins })
  checkBinding({ host, exposure, plaintextUnderstood: options.plaintextUnderstood === true })
  await ensureDataDirectory(options.dataDirectory)
  const lock = takeDataLock(options.dataDirectory)
  const logger = options.logger ?? createLogger()
  const metrics = createPrometheusMetrics()
  const store = openStore({
    file: join(options.dataDirectory, "signalbox.db"),
    onCommitted: (commit) => metrics.logCommitted({ events: commit.jobs, seconds: commit.durationMs / 1000 }),
    onTrouble: (error) =>
      logger.error({ err: error }, "the store cannot be written: new input is refused until it can"),
    onRecovered: () => logger.info("the store can be written again"),
  })
  const authority = await Authority.open({ directory: store.directory, exposure })
  const admin = await ensureAdminToken(options.dataDirectory, authority.tokens)
  const fanOut = new FanOut()
  let address: ListeningAddress | undefined
  const parts = await assemble({ store, fanOut, logger, authority, options, urlOf: () => address?.url ?? "" })
  const app = createHttpApp({
    core: parts.core,
    authority,
    logger,
    metrics,
    version: options.version ?? "0.1.0",
    moreRoutes: parts.clientDoors.routes,
  })
  const server = createHttpServer({
    fetch: (request, bindings) => app.hono.fetch(request, bindings),
    onUpgrade: (request, socket, head) => {
      const path = new URL(request.url ?? "/", "http://localhost").pathname
      if (path === "/api/stream") return parts.streamDoor.handleUpgrade(request, socket, head)
      if (parts.clientDoors.handles(path)) return parts.clientDoors.handleUpgrade(request, socket, head)
      if (parts.ingress.handles(path)) return void parts.ingress.handleUpgrade(request, socket, head)
      refuseUpgrade(socket, 404, `nothing takes a WebSocket at ${path}`)
    },
    onAgentPost: (request, response) => void parts.ingress.receiveEvents(request, response),
  })
  address = await server.listen({ host, ...(options.port === undefined ? {} : { port: options.port }) })
  let closing: Promise<void> | undefined
  const close = async () => {
    await parts.ingress.close()
    parts.streamDoor.close()
    parts.clientDoors.close()
    await server.close()
    await parts.settle()
    parts.asks.close()
    await store.close()
    metrics.close()
    lock.release()
  }
  return {
    address,
    admin,
    core: parts.core,
    createLoginCode: () => authority.createLoginCode(admin.tokenId),
    close: () => (closing ??= close()),
  }
}

interface AssembleOptions {
  readonly store: Store
  readonly fanOut: FanOut
  readonly logger: HubLogger
  readonly authority: Authority
  readonly options: HubOptions
  readonly urlOf: () => string
}

async function assemble({ store, fanOut, logger, authority, options, urlOf }: AssembleOptions) {
  const { log, directory } = store
  const policy = new PolicyDesk(directory)
  const grants = new GrantDesk<Rule>({
    directory,
    toRules: (grant) =>
      rulesFromUpdate(grant.update as Parameters<typeof rulesFromUpdate>[0], {
        id: `grant:${grant.id}`,
        session: grant.sessionId,
        cwd: registry.find(grant.sessionId)?.record.cwd ?? undefined,
        reason: `${grant.grantedBy} allowed it for this session`,
      }),
    machineOf: (sessionId) => registry.find(sessionId)?.record.runner ?? null,
  })
  const asks = new AskDesk({
    directory,
    grants,
    judge: (ask) => policy.judge(ask, registry.get(ask.sessionId).record, grants.rulesOf(ask.sessionId)),
    send: (incarnation, message) => sendTo(registry, incarnation, message),
    publish: (ask) => publishAsk(registry, fanOut, ask),
  })
  const registry: SessionRegistry = new SessionRegistry({
    open: (kept) =>
      new LiveSession({
        kept,
        log,
        directory,
        asks,
        publish: (session, items) => fanOut.published(session.id, items),
        changed: (session) => fanOut.changed(session.view()),
        call: (session, message) => desks.call(session, message),
        greeting: (session, incarnation) => desks.greeting(session, incarnation),
        greeted: (session) => desks.greeted(session),
        viewers: (sessionId) => fanOut.countOf(sessionId),
        trouble: (session, what, error) => logger.warn({ session: session.id, err: error }, what),
      }),
  })
  const desks = new ClientDesks({
    directory,
    registry: () => registry,
    trouble: (session, what, error) => logger.warn({ session: session.id, err: error }, what),
  })
  registry.load(await directory.loadSessions())
  await desks.load()
  await Promise.all([policy.load(), asks.load()])
  await grants.load()
  for (const session of registry.all()) if (!session.isEnded) await session.messages.load()
  const core = new LocalHubCore({
    registry,
    log,
    directory,
    asks,
    grants,
    policy,
    desks,
    tokens: authority.tokens,
    search: (query) => store.search.search(query),
    ingressUrl: (id) => `${(options.publicUrl ?? urlOf()).replace(/^http/, "ws")}/ws/cli/${id}`,
    claudeVersion: options.claudeVersion ?? (async () => undefined),
  })
  const ingress = new AgentIngress({
    registry,
    log,
    authority,
    anonymousAgents: options.anonymousAgents === true,
    onTrouble: (what, error) => logger.warn({ err: error }, what),
  })
  const streamDoor = new StreamDoor({
    authority,
    core,
    fanOut,
    openAsks: (sessionId) =>
      sessionId === undefined
        ? [...registry.all()].flatMap((session) => asks.pendingOf(session.id))
        : asks.pendingOf(sessionId),
    inProgress: (sessionId) => registry.find(sessionId)?.inProgress.lines() ?? [],
  })
  const clientDoors = new ClientDoors({
    house: { registry, fanOut, asks, desks },
    log,
    core,
    authority,
    anonymousRelay: options.anonymousRelay === true,
    isAutoApproving: () => policy.policy.relayAutoApproval,
    trouble: (what, error) => logger.warn({ err: error }, what),
  })
  const settle = async () => {
    for (const session of registry.all()) await session.settled()
    await desks.settled()
  }
  return { core, asks, ingress, streamDoor, clientDoors, settle }
}

async function sendTo(
  registry: SessionRegistry,
  incarnation: string,
  message: Parameters<LiveSession["recordAnswer"]>[0],
): Promise<boolean> {
  for (const session of registry.all()) {
    if (session.wire?.incarnation !== incarnation) continue
    return session.wire.send(message).then(
      () => true,
      () => false,
    )
  }
  return false
}

/** The answer is part of the history, beside the question. */
function publishAsk(registry: SessionRegistry, fanOut: FanOut, ask: Ask): void {
  fanOut.asked(ask)
  const session = registry.find(ask.sessionId)
  if (session === undefined) return
  session.touch()
  if (ask.answer === undefined) return
  const response = { subtype: "success", request_id: ask.requestId, response: ask.answer }
  void session.recordAnswer({ type: "control_response", response }, ask.settledBy ?? "hub").catch(() => undefined)
}
