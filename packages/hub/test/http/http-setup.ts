import { Writable } from "node:stream"
import type { Role, SignedInBrowser } from "@signalbox/protocol/hub-api"
import { Authority } from "../../src/auth/authority.ts"
import { type ExposureOptions, settleExposure } from "../../src/auth/exposure.ts"
import { createHttpApp, type HttpApp, type Route } from "../../src/http/app.ts"
import type { ReplyRoom } from "../../src/http/reply.ts"
import type { HubCore } from "../../src/hub-core.ts"
import { createLogger } from "../../src/operations/logger.ts"
import { createPrometheusMetrics, type PrometheusMetrics } from "../../src/operations/metrics.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { LOCAL_HOST } from "../auth/facts.ts"
import { ManualClock } from "../auth/manual-clock.ts"
import { createFakeCore, type FakeCore } from "./fake-core.ts"

export const ROLES: readonly Role[] = ["viewer", "operator", "admin", "agent", "runner"]

interface Ask {
  readonly method?: string
  /** Whose token it bears; none when left out. */
  readonly as?: Role
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, unless it is text, bytes or a stream already. */
  readonly body?: unknown
  readonly peer?: string
}

export interface HttpSetup {
  readonly app: HttpApp
  readonly core: FakeCore
  readonly authority: Authority
  readonly clock: ManualClock
  readonly metrics: PrometheusMetrics
  readonly tokens: Readonly<Record<Role, string>>
  readonly log: () => string
  readonly ask: (path: string, ask?: Ask) => Promise<Response>
}

export interface SetupOptions {
  readonly replies?: Partial<HubCore>
  readonly exposure?: ExposureOptions
  readonly notReady?: () => string | undefined
  readonly moreRoutes?: readonly Route[]
  readonly replyRoom?: ReplyRoom
  readonly stallMs?: number
}

/** The whole app, without a port. */
export async function setUpHttp({ replies, exposure = {}, ...rest }: SetupOptions = {}): Promise<HttpSetup> {
  const clock = new ManualClock()
  const directory = new MemoryDirectory()
  const authority = await Authority.open({ directory, exposure: settleExposure(exposure), clock })
  const tokens = Object.fromEntries(
    await Promise.all(
      ROLES.map(async (role) => [role, (await authority.tokens.create({ role, name: `the ${role}` }, "test")).secret]),
    ),
  ) as Record<Role, string>
  const core = createFakeCore(replies)
  const lines: string[] = []
  const stream = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) })
  const logger = createLogger({ level: "debug", stream })
  const metrics = createPrometheusMetrics()
  const app = createHttpApp({ core, authority, logger, metrics, version: "0.0.0-test", ...rest })
  const log = () => lines.join("")
  const ask = async (path: string, options: Ask = {}) =>
    app.hono.fetch(requestOf(path, options, tokens), { peer: options.peer ?? "127.0.0.1" })
  return { app, core, authority, clock, metrics, tokens, log, ask }
}

/** Signs a browser in with this role's token. Returns its id. */
export async function signIn(
  hub: HttpSetup,
  role: "viewer" | "operator" | "admin",
  browser = "Test/1",
): Promise<string> {
  const headers = { "user-agent": browser }
  await hub.ask("/api/login", { method: "POST", body: { token: hub.tokens[role] }, headers })
  const reply = (await (await hub.ask("/api/logins", { as: role })).json()) as { logins: SignedInBrowser[] }
  return reply.logins.find(({ name }) => name === `the ${role}`)?.id ?? ""
}

function requestOf(
  path: string,
  { method = "GET", as, headers = {}, body }: Ask,
  tokens: Record<Role, string>,
): Request {
  const bearer = as === undefined ? {} : { authorization: `Bearer ${tokens[as]}` }
  const init: RequestInit & { duplex: "half" } = {
    method,
    headers: { host: LOCAL_HOST, ...bearer, ...headers },
    duplex: "half",
  }
  if (body !== undefined) init.body = isRaw(body) ? body : JSON.stringify(body)
  return new Request(`http://${LOCAL_HOST}${path}`, init)
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> | ReadableStream {
  return typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream
}

export async function errorOf(reply: Response): Promise<{ status: number; code: string; message: string }> {
  const { error } = (await reply.json()) as { error: { code: string; message: string } }
  return { status: reply.status, ...error }
}
