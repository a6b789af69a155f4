import { readFileSync } from "node:fs"
import { assembleHub, type HubParts } from "./assemble-hub.ts"
import { type AdminToken, ensureAdminToken, ensureDataDirectory } from "./auth/admin-token.ts"
import { Authority } from "./auth/authority.ts"
import { checkBinding, settleExposure } from "./auth/exposure.ts"
import { Cluster, type ClusterOptions } from "./cluster/cluster.ts"
import type { ClusterDoor } from "./cluster/cluster-door.ts"
import { checkClusterUrl } from "./cluster/cluster-url.ts"
import { soloHub } from "./cluster/hubs.ts"
import { HubError } from "./errors.ts"
import { refuseSocket, type Upgrade } from "./http/door.ts"
import type { ListeningAddress } from "./http/listen.ts"
import { errorReply, ReplyRoom } from "./http/reply.ts"
import { createHttpServer } from "./http/server.ts"
import type { HubCore } from "./hub-core.ts"
import type { Caller } from "./model/access.ts"
import { takeDataLock } from "./operations/data-lock.ts"
import { createLogger, type HubLogger } from "./operations/logger.ts"
import { createPrometheusMetrics } from "./operations/metrics.ts"
import { databaseIn, lastBackupIn } from "./store/database.ts"
import { openStore, type Store, type Watched } from "./store/open-store.ts"

export interface HubOptions {
  /** Made with 0700 when it is not there. */
  readonly dataDirectory: string
  /** The address of a PostgreSQL database that keeps everything durable. Left out: a file in the data directory does. */
  readonly store?: string
  /** Where other hubs on the same PostgreSQL database reach this one. Left out: it has its store for itself. */
  readonly clusterUrl?: string
  /** Certificates (PEM) that hubs trust when they call each other over https, instead of those that this machine trusts. */
  readonly clusterCa?: string
  readonly host?: string
  /** Left out: 8765 or the next free one. 0: any. */
  readonly port?: number
  readonly publicUrl?: string
  readonly allowOrigins?: readonly string[]
  /** Addresses or networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[]
  readonly anonymousAgents?: boolean
  readonly anonymousRelay?: boolean
  readonly plaintextUnderstood?: boolean
  readonly version?: string
  readonly logger?: HubLogger
  /** Version of the `claude` on this machine, for the command lines that are offered. */
  readonly claudeVersion?: () => Promise<string | undefined>
  /** A runner is being started beside the hub: launches wait for it, as long as this. */
  readonly expectRunnerForMs?: number
  /** Where the built cockpit is; without it a plain page stands in its place. */
  readonly cockpitDirectory?: string
}

export interface Hub {
  readonly address: ListeningAddress
  readonly admin: AdminToken
  readonly core: HubCore
  /** For a browser that is opened by whoever started the hub: single use, valid for a minute. */
  createLoginCode(): Promise<string>
  /** Binds the id of the runner beside the hub to this token, whichever token held it. */
  ownRunner(id: string, token: string): void
  /** Agents and viewers are told to come back; what was promised is on the disk. */
  close(): Promise<void>
}

const DEFAULT_HOST = "127.0.0.1"
const VERSION = "0.1.0"

/** A hub of its own on this machine. Somebody must close it. */
export async function openHub(options: HubOptions): Promise<Hub> {
  const host = options.host ?? DEFAULT_HOST
  const { publicUrl, allowOrigins, trustedProxies } = options
  const exposure = settleExposure({ publicUrl, allowOrigins, trustedProxies })
  const plaintextUnderstood = options.plaintextUnderstood === true
  checkBinding({ host, exposure, plaintextUnderstood })
  const { clusterUrl, clusterCa: ca, store: named } = options
  const ownUrl = clusterUrl && checkClusterUrl({ clusterUrl, store: named, plaintextUnderstood })
  await ensureDataDirectory(options.dataDirectory)
  // What was opened is closed in the opposite order, also when a later step fails.
  const closers: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  const close = () => (closing ??= closeAll(closers))
  try {
    const lock = takeDataLock(options.dataDirectory)
    closers.push(() => lock.release())
    const logger = options.logger ?? createLogger()
    const metrics = createPrometheusMetrics()
    closers.push(() => metrics.close())
    let parts: HubParts | undefined
    const onMoved = (session: string, epoch: number) => parts?.departed(session, epoch)
    const store = await openStoreOf(options, onMoved, {
      onCommitted: metrics.logCommitted,
      onTrouble: (error) =>
        logger.error({ err: error }, "the store cannot be written: new input is refused until it can"),
      onPurgeTrouble: (error) =>
        logger.warn({ err: error }, "what purged sessions left behind could not be deleted now: it is tried again"),
      onCompressionTrouble: (error) =>
        logger.warn({ err: error }, "old events could not be compressed now: it is tried again"),
      onRecovered: ({ lastedMs }) => logger.info({ lastedMs }, "the store can be written again"),
    })
    closers.push(() => store.close())
    metrics.watchStore(store)
    if (named === undefined) metrics.watchBackups(() => readLastBackup(options.dataDirectory))
    const { compression } = store
    if (compression !== undefined) metrics.watchColdLines(() => compression.bytes)
    const authority = await Authority.open({ directory: store.directory, exposure })
    closers.push(() => authority.close())
    const admin = await ensureAdminToken(options.dataDirectory, authority.tokens)
    const replyRoom = new ReplyRoom()
    let address: ListeningAddress | undefined
    const version = options.version ?? VERSION
    const counts = () => parts?.counts() ?? { sessions: 0, runners: 0, viewers: 0 }
    const cluster =
      ownUrl === undefined
        ? undefined
        : await openCluster({ store, url: ownUrl, ca, version, counts, logger }, () => parts)
    if (cluster !== undefined) closers.push(() => cluster.close())
    const hubs = cluster?.hubs ?? soloHub({ url: () => options.publicUrl ?? address?.url ?? "", version, counts })
    const here = await assembleHub({
      store,
      logger,
      metrics,
      authority,
      anonymousAgents: options.anonymousAgents === true,
      anonymousRelay: options.anonymousRelay === true,
      replyRoom,
      url: () => options.publicUrl ?? address?.url ?? "",
      claudeVersion: options.claudeVersion ?? (async () => undefined),
      hubs,
      cluster,
      fleet: { version, ...(options.expectRunnerForMs && { expectForMs: options.expectRunnerForMs }) },
    })
    parts = here
    closers.push(() => here.settle())
    const notReady = () => {
      if (closing !== undefined) return "The hub is stopping"
      if (cluster?.refusal !== undefined) return "The hub's lease has expired"
      return store.journal.isStalled ? "The store cannot be written" : undefined
    }
    let serveFellow: ((request: Request, caller: Caller) => Promise<Response> | Response) | undefined
    const fellowDoor = cluster?.door((request, caller) => serveFellow?.(request, caller) ?? stopping())
    const loadApp = async () => {
      const [{ createHttpApp }, moreRoutes] = await Promise.all([import("./http/app.ts"), here.clientDoors.routes()])
      const { cockpitDirectory } = options
      const { core } = here
      const operations = { logger, metrics, version, notReady, cluster }
      const { hono } = createHttpApp({ core, authority, ...operations, moreRoutes, cockpitDirectory, replyRoom })
      serveFellow = (request, caller) => hono.fetch(request, { caller })
      return hono
    }
    const server = createHttpServer({
      authority,
      loadApp,
      ...(fellowDoor && { onFellow: (request: Request) => fellowDoor.answer(request) }),
      onTrouble: (error) =>
        logger.error({ err: error }, "the REST interface could not be loaded: it is tried again with the next request"),
      onUpgrade: (request, socket, head) =>
        upgrade(
          here,
          { isClosed: closing !== undefined || cluster?.refusal !== undefined, fellowDoor },
          { request, socket, head },
        ),
      onAgentPost: (request, response) => here.ingress.receiveEvents(request, response),
    })
    closers.push(() => server.close())
    closers.push(() => {
      const closed = closeDoors(here)
      cluster?.fellows.hangUp()
      return closed
    })
    // The first: on a full disk nobody would ever get room, and everybody below waits for everybody who waits for it.
    closers.push(() => store.journal.stopWaiting())
    address = await server.listen({ host, ...(options.port === undefined ? {} : { port: options.port }) })
    const createLoginCode = () => authority.createLoginCode(admin.tokenId)
    const ownRunner = (id: string, token: string) => {
      const record = authority.tokens.find(token)
      if (record?.role === "runner") here.fleet.own(id, record.id)
    }
    return { address, admin, core: here.core, createLoginCode, ownRunner, close }
  } catch (error) {
    await close()
    throw error
  }
}

function stopping(): Response {
  return errorReply(new HubError("hub/stopping", "The hub is starting. Try again in a moment."))
}

interface Joining extends Pick<ClusterOptions, "store" | "url" | "ca" | "version" | "counts"> {
  readonly logger: HubLogger
}

function openCluster({ logger, ...joining }: Joining, parts: () => HubParts | undefined): Promise<Cluster> {
  return Cluster.open({
    ...joining,
    onLapsed(error) {
      logger.error({ err: error }, "hub lease expired: requests are refused until it is renewed")
      parts()?.giveUp("the hub has lost its database")
    },
    onBack: () => logger.info("hub lease renewed"),
    trouble: (what, error) => logger.warn({ err: error }, what),
  })
}

/** The backup is made by another process, which leaves the time behind. */
function readLastBackup(dataDirectory: string): Date | undefined {
  try {
    const at = new Date(readFileSync(lastBackupIn(dataDirectory), "utf8").trim())
    return Number.isNaN(at.getTime()) ? undefined : at
  } catch {
    return undefined
  }
}

/** PostgreSQL's driver is loaded only for those who ask for it. */
async function openStoreOf(
  { dataDirectory, store, clusterUrl }: HubOptions,
  onMoved: (session: string, epoch: number) => void,
  watched: Watched,
): Promise<Store> {
  if (store === undefined) return openStore({ file: databaseIn(dataDirectory), ...watched })
  const { openPostgresStore } = await import("./store/postgres/open-postgres-store.ts")
  return openPostgresStore({ url: store, ...(clusterUrl !== undefined && { shared: { onMoved } }), ...watched })
}

interface Entering {
  readonly isClosed: boolean
  readonly fellowDoor: ClusterDoor | undefined
}

function upgrade(parts: HubParts, { isClosed, fellowDoor }: Entering, entering: Upgrade): void {
  const { request, socket, head } = entering
  // An agent would take an HTTP error for the end; a cut connection it tries again.
  if (isClosed) return void socket.destroy()
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/"
  if (fellowDoor?.handles(path) === true) return void fellowDoor.answerUpgrade(path, entering)
  if (path === "/api/stream") return parts.streamDoor.handleUpgrade(request, socket, head)
  if (parts.runnerDoor.handles(path)) return parts.runnerDoor.handleUpgrade(request, socket, head)
  if (parts.clientDoors.handles(path)) return parts.clientDoors.handleUpgrade(entering)
  if (parts.ingress.handles(path)) return void parts.ingress.handleUpgrade(request, socket, head)
  refuseSocket(socket, new HubError("route/unknown", `nothing takes a WebSocket at ${path}`))
}

async function closeDoors(parts: HubParts): Promise<void> {
  parts.streamDoor.close()
  parts.clientDoors.close()
  await Promise.all([parts.ingress.close(), parts.runnerDoor.close()])
}

/** Each in its own try: one that fails does not keep the others open. */
async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of closers.toReversed()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
