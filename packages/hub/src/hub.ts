import { join } from "node:path"
import { assembleHub, type HubParts } from "./assemble-hub.ts"
import { type AdminToken, ensureAdminToken, ensureDataDirectory } from "./auth/admin-token.ts"
import { Authority } from "./auth/authority.ts"
import { checkBinding, settleExposure } from "./auth/exposure.ts"
import type { HubCore } from "./core.ts"
import { HubError } from "./errors.ts"
import type { HttpApp } from "./http/app.ts"
import { refuseSocket } from "./http/door.ts"
import type { ListeningAddress } from "./http/listen.ts"
import { ReplyRoom } from "./http/reply.ts"
import { createHttpServer } from "./http/server.ts"
import { takeDataLock } from "./operations/data-lock.ts"
import { createLogger, type HubLogger } from "./operations/logger.ts"
import { createPrometheusMetrics } from "./operations/metrics.ts"
import { openStore } from "./store/open-store.ts"

export interface HubOptions {
  /** Made with 0700 when it is not there. */
  readonly dataDirectory: string
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
  createLoginCode(): string
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
  checkBinding({ host, exposure, plaintextUnderstood: options.plaintextUnderstood === true })
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
    const store = openStore({
      file: join(options.dataDirectory, "signalbox.db"),
      onCommitted: (commit) => metrics.logCommitted({ events: commit.jobs, seconds: commit.durationMs / 1000 }),
      onTrouble: (error) =>
        logger.error({ err: error }, "the store cannot be written: new input is refused until it can"),
      onRecovered: ({ lastedMs }) => logger.info({ lastedMs }, "the store can be written again"),
    })
    closers.push(() => store.close())
    const authority = await Authority.open({ directory: store.directory, exposure })
    closers.push(() => authority.close())
    const admin = await ensureAdminToken(options.dataDirectory, authority.tokens)
    const replyRoom = new ReplyRoom()
    let address: ListeningAddress | undefined
    const parts = await assembleHub({
      store,
      logger,
      metrics,
      authority,
      anonymousAgents: options.anonymousAgents === true,
      anonymousRelay: options.anonymousRelay === true,
      replyRoom,
      url: () => options.publicUrl ?? address?.url ?? "",
      claudeVersion: options.claudeVersion ?? (async () => undefined),
      fleet: options.expectRunnerForMs === undefined ? {} : { expectForMs: options.expectRunnerForMs },
    })
    closers.push(() => parts.settle())
    const version = options.version ?? VERSION
    const notReady = () => {
      if (closing !== undefined) return "The hub is stopping"
      return store.journal.isStalled ? "The store cannot be written" : undefined
    }
    let app: Promise<HttpApp> | undefined
    const loadApp = async () => {
      const [{ createHttpApp }, moreRoutes] = await Promise.all([import("./http/app.ts"), parts.clientDoors.routes()])
      const { cockpitDirectory } = options
      const { core } = parts
      const operations = { logger, metrics, version, notReady }
      return createHttpApp({ core, authority, ...operations, moreRoutes, cockpitDirectory, replyRoom })
    }
    // Agents and viewers are let in before it is loaded: an old CLI comes back for only a few seconds.
    const openApp = () => (app ??= loadApp())
    const server = createHttpServer({
      fetch: async (request, bindings) => {
        await authority.meet(request.headers.get("authorization") ?? undefined)
        return (await openApp()).hono.fetch(request, bindings)
      },
      onUpgrade: (request, socket, head) => {
        authority.meet(request.headers.authorization).then(
          () => upgrade(parts, closing !== undefined, { request, socket, head }),
          // The store cannot be read: whoever is cut off tries again.
          () => socket.destroy(),
        )
      },
      onAgentPost: (request, response) => {
        authority.meet(request.headers.authorization).then(
          () => parts.ingress.receiveEvents(request, response),
          () => response.destroy(),
        )
      },
    })
    closers.push(() => server.close())
    closers.push(() => closeDoors(parts))
    // The first: on a full disk nobody would ever get room, and everybody below waits for everybody who waits for it.
    closers.push(() => store.journal.stopWaiting())
    address = await server.listen({ host, ...(options.port === undefined ? {} : { port: options.port }) })
    openApp().catch((error: unknown) => logger.error({ err: error }, "the REST interface could not be loaded"))
    const createLoginCode = () => authority.createLoginCode(admin.tokenId)
    const ownRunner = (id: string, token: string) => {
      const record = authority.tokens.find(token)
      if (record?.role === "runner") parts.fleet.own(id, record.id)
    }
    return { address, admin, core: parts.core, createLoginCode, ownRunner, close }
  } catch (error) {
    await close()
    throw error
  }
}

type Upgrade = Parameters<Parameters<typeof createHttpServer>[0]["onUpgrade"]>

function upgrade(
  parts: HubParts,
  isClosing: boolean,
  { request, socket, head }: { request: Upgrade[0]; socket: Upgrade[1]; head: Upgrade[2] },
): void {
  // An agent would take an HTTP error for the end; a cut connection it tries again.
  if (isClosing) return void socket.destroy()
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/"
  if (path === "/api/stream") return parts.streamDoor.handleUpgrade(request, socket, head)
  if (parts.runnerDoor.handles(path)) return parts.runnerDoor.handleUpgrade(request, socket, head)
  if (parts.clientDoors.handles(path)) return parts.clientDoors.handleUpgrade(request, socket, head)
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
