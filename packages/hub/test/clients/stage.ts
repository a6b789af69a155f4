import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CreatedSession } from "@signalbox/protocol/hub-api"
import { onTestFinished } from "vitest"
import { WebSocket } from "ws"
import type { Page } from "../../src/asks/whole-ask.ts"
import { createLogger, type Hub, type HubOptions, openHub } from "../../src/index.ts"
import type { StoredEvent } from "../../src/model/event.ts"
import { openStore, type Store } from "../../src/store/open-store.ts"
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts"
import { LineSocket } from "./line-socket.ts"
import { ScriptedAgent } from "./scripted-agent.ts"

/** With SIGNALBOX_TEST_STORE=postgres every stage's hub has a PostgreSQL database of its own instead of a file. */
const postgres =
  process.env["SIGNALBOX_TEST_STORE"] === "postgres" ? await import("../../../../test/postgres/server.ts") : undefined

export interface Stage {
  readonly hub: Hub
  readonly url: string
  readonly wsUrl: string
  readonly folder: string
  /** The hub's own, on the same folder and port, after the first was closed. */
  reopen(): Promise<Stage>
  /** Its store, after the hub was closed. Somebody must close it. */
  openStore(): Promise<Store>
}

export async function openStage(options: Partial<HubOptions> = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-clients-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const database = await postgres?.openTestDatabase()
  if (database === undefined) return openOn(folder, options)
  onTestFinished(() => database.dispose())
  return openOn(folder, { store: database.url, ...options })
}

async function openOn(folder: string, options: Partial<HubOptions>): Promise<Stage> {
  const hub = await openHub({ port: 0, logger: createLogger({ level: "silent" }), dataDirectory: folder, ...options })
  onTestFinished(() => hub.close())
  const { url, port } = hub.address
  return {
    hub,
    url,
    wsUrl: url.replace("http", "ws"),
    folder,
    async reopen() {
      await hub.close()
      return openOn(folder, { ...options, port })
    },
    openStore: async () =>
      options.store === undefined
        ? openStore({ file: join(folder, "signalbox.db") })
        : openPostgresStore({ url: options.store }),
  }
}

/** A session for an agent that is started by hand, with the token it needs. */
export async function openSession(stage: Stage, body: Record<string, unknown> = {}) {
  const reply = await call(stage, "POST", "/api/sessions", { agent: "external", ...body })
  const session = (await reply.json()) as CreatedSession
  const { ingress } = session
  if (ingress === undefined) throw new Error(`no ingress: ${JSON.stringify(session)}`)
  return { id: session.id, ingress }
}

export async function openAgent(stage: Stage, options: { hooks?: string[]; version?: string } = {}) {
  const { version, ...body } = options
  const session = await openSession(stage, body)
  const agent = await ScriptedAgent.dial(session.ingress, version)
  onTestFinished(() => agent.close())
  return { agent, id: session.id }
}

export function call(stage: Stage, method: string, path: string, body?: unknown, token = stage.hub.admin.token) {
  return fetch(`${stage.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

export async function tokenOf(stage: Stage, role: string): Promise<{ id: string; token: string }> {
  const reply = await call(stage, "POST", "/api/tokens", { role, name: `a ${role}` })
  return (await reply.json()) as { id: string; token: string }
}

export async function openClient(stage: Stage, id: string, token = stage.hub.admin.token): Promise<LineSocket> {
  const client = await LineSocket.open(
    new WebSocket(`${stage.wsUrl}/ws/session/${id}`, { headers: { authorization: `Bearer ${token}` } }),
  )
  onTestFinished(() => client.close())
  return client
}

/** All of a page. */
export async function entriesOf<T>(page: Promise<Page<T>>): Promise<T[]> {
  const entries: T[] = []
  for await (const entry of (await page).entries) entries.push(entry)
  return entries
}

/** The first events of a session, as they are kept. */
export async function eventsOf({ hub }: Pick<Stage, "hub">, id: string): Promise<StoredEvent[]> {
  const { pieces } = await hub.core.readEvents(id, { after: 0, limit: 100 })
  const events: StoredEvent[] = []
  for await (const piece of pieces) events.push(...piece)
  return events
}
