import { decode, type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import { AskDesk } from "../../src/asks/ask-desk.ts"
import { AskReader } from "../../src/asks/whole-ask.ts"
import { HubError } from "../../src/errors.ts"
import { GrantDesk, RuleUses } from "../../src/policy-desk.ts"
import type { AgentWire } from "../../src/session/agent-control.ts"
import type { Published } from "../../src/session/history.ts"
import type { Continuity } from "../../src/session/life.ts"
import type { LiveSession } from "../../src/session/live-session.ts"
import { type SessionDesks, SessionRegistry, type SessionRegistryOptions } from "../../src/session/session-registry.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"

/** An agent's process at the other end of a wire that never breaks by itself. */
export class FakeAgent implements AgentWire {
  readonly transport = "websocket"
  readonly heard: Envelope[] = []
  readonly closes: number[] = []
  isGivenUp = false
  readonly hearsOnce = true
  isReturning = false
  incarnation: string
  /** What it answers to `initialize`; left out, it never does. */
  initializeReply: Record<string, unknown> | null
  #session: LiveSession | undefined
  #renewals = 0

  constructor(incarnation = "p1", initializeReply: Record<string, unknown> | null = SUCCESS) {
    this.incarnation = incarnation
    this.initializeReply = initializeReply
  }

  renew(incarnation?: string): void {
    this.#renewals += 1
    this.incarnation = incarnation ?? `${this.incarnation}+${this.#renewals}`
  }

  async send(message: Envelope): Promise<void> {
    this.heard.push(message)
    const request_id = textOf(message, "request_id")
    if (fieldOf(message, "request")?.["subtype"] !== "initialize" || this.initializeReply === null) return
    this.say({ type: "control_response", response: { request_id, ...this.initializeReply } })
  }

  async closeWith(code: number): Promise<void> {
    this.closes.push(code)
  }

  giveUp(): void {
    this.isGivenUp = true
  }

  async attach(session: LiveSession, continuity: Continuity = "new"): Promise<void> {
    this.#session = session
    await session.attach(this, continuity)
  }

  /** Its conversation goes on in another session. */
  goOnIn(session: LiveSession): void {
    this.#session = session
  }

  say(message: Envelope | string): void {
    this.#session?.ingest(decode(typeof message === "string" ? message : JSON.stringify(message), "agent"))
  }

  /** The user messages it got, by their text. */
  get prompts(): unknown[] {
    return this.heard.filter((message) => message.type === "user").map((message) => promptOf(message))
  }
}

const SUCCESS = { subtype: "success", response: { commands: [] } }
export const ALREADY = { subtype: "error", error: "Already initialized", pending_permission_requests: [] }

const NO_CLIENTS: SessionDesks["clients"] = {
  has: () => false,
  call: () => false,
  greeting: () => ({}),
  greeted: () => undefined,
  heard: () => undefined,
  returned: () => undefined,
  restore: () => Promise.resolve(),
  left: () => undefined,
}

const NO_LAUNCHES: SessionDesks["launches"] = {
  revive: async () => {
    throw new HubError("session/no-agent", "nobody starts agents here")
  },
  stop: async () => undefined,
  wake: () => undefined,
}

export function setUpSessions(
  directory = new MemoryDirectory(),
  log = new MemoryEventLog(),
  how: Partial<SessionRegistryOptions> = {},
) {
  const published: Published[] = []
  const troubles: string[] = []
  const grants = new GrantDesk<never>({ directory, toRules: () => undefined, machineOf: () => null })
  const asks = new AskDesk({
    directory,
    reader: new AskReader(log),
    grants,
    uses: new RuleUses(directory),
    sessions: {
      startedBy: () => undefined,
      load: () => Promise.resolve(),
      judge: () => ({ effect: "ask", reason: "no rule" }),
      recall: async () => undefined,
      send: async () => true,
      publish: () => undefined,
    },
  })
  const registry = new SessionRegistry({
    directory,
    log,
    viewers: {
      countOf: () => 0,
      published: (_id, items) => void published.push(...items),
      changed: () => undefined,
      asked: () => undefined,
      left: () => undefined,
    },
    metrics: { lineAbsorbed: () => undefined },
    trouble: (_session, what) => void troubles.push(what),
    ...how,
  })
  registry.connect({ asks, clients: NO_CLIENTS, launches: NO_LAUNCHES })
  return { directory, log, asks, registry, published, troubles }
}

export async function linesOf(log: MemoryEventLog, session: LiveSession): Promise<string[]> {
  await session.settled()
  const events = await log.read(session.id, { after: 0, limit: 1000 })
  return events.map(({ from, line }) => {
    const { type, subtype } = JSON.parse(line) as Envelope
    return [from, type, ...(typeof subtype === "string" ? [subtype] : [])].join(" ")
  })
}

function promptOf(message: Envelope): string | undefined {
  const content = fieldOf(message, "message")?.["content"]
  return Array.isArray(content) ? textOf(content[0], "text") : undefined
}
