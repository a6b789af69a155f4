import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { runsNow } from "../gate.ts"
import { RawSocket } from "./abuse-socket.ts"
import { HubProcess, type Json } from "./hub-process.ts"

/** A case of the suite, by its rule's id: the gate runs those that it names. */
export function abuseCase(title: string, run: () => Promise<void>, timeoutMs = 60_000): void {
  const id = /^\[(\w+)\]/.exec(title)?.[1] ?? title
  if (runsNow("hub abuse", id)) it(title, run, timeoutMs)
}

/** Things that tests opened, ended in reverse order whatever happened. */
export class Stage {
  readonly #open: (() => Promise<void> | void)[] = []

  onEnd(end: () => Promise<void> | void): void {
    this.#open.push(end)
  }

  async hub(flags: readonly string[] = []): Promise<HubProcess> {
    const hub = await HubProcess.start(flags)
    this.onEnd(() => hub.dispose())
    return hub
  }

  async socket(url: string, token?: string): Promise<RawSocket> {
    const socket = await RawSocket.open(url, token === undefined ? {} : { token })
    this.onEnd(() => socket.end())
    return socket
  }

  /** An agent in this process, on a session of its own: says what it is told to. */
  async agent(hub: HubProcess): Promise<PlayedAgent> {
    const { id, ingress } = await hub.post("/api/sessions", { agent: "external" })
    const agent = new PlayedAgent(id, ingress, await this.socket(ingress.url, ingress.token))
    await agent.socket.until((line) => line.request?.subtype === "initialize")
    return agent
  }

  async viewer(hub: HubProcess, session: string, after = 0): Promise<RawSocket> {
    const viewer = await this.socket(streamUrl(hub), hub.ready.token)
    viewer.say({ op: "subscribe", session, after })
    await viewer.until((line) => line.ev === "subscribed")
    return viewer
  }

  async end(): Promise<void> {
    for (const end of this.#open.splice(0).toReversed()) await end()
  }
}

export function streamUrl(hub: HubProcess): string {
  return `${socketUrl(hub)}/api/stream`
}

export function socketUrl(hub: HubProcess): string {
  return hub.ready.url.replace("http", "ws")
}

export class PlayedAgent {
  readonly sessionId: string
  readonly ingress: { readonly url: string; readonly token: string }
  readonly socket: RawSocket
  readonly ownId = randomUUID()

  constructor(sessionId: string, ingress: { url: string; token: string }, socket: RawSocket) {
    this.sessionId = sessionId
    this.ingress = ingress
    this.socket = socket
    socket.onLine = (line) => {
      if (line.request?.subtype === "initialize") this.answer(line.request_id, {})
      // The receipt, without which messages count as waiting.
      if (line.type === "user") socket.say({ ...line, isReplay: true, session_id: this.ownId })
    }
    for (const line of socket.lines) socket.onLine(line)
  }

  answer(requestId: string, response: unknown): void {
    this.socket.say({ type: "control_response", response: { subtype: "success", request_id: requestId, response } })
  }

  /** Returns the message's uuid. */
  speak(text: string): string {
    const uuid = randomUUID()
    const message = { role: "assistant", content: [{ type: "text", text }] }
    this.socket.say({ type: "assistant", uuid, session_id: this.ownId, parent_tool_use_id: null, message })
    return uuid
  }

  /** Returns the question's request_id. */
  ask(input: Readonly<Record<string, unknown>> = { command: "true" }): string {
    const request_id = randomUUID()
    const request = { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: randomUUID(), input }
    this.socket.say({ type: "control_request", request_id, request })
    return request_id
  }
}

/** Somebody else on the same hub, who must not notice: an agent, a viewer and a person at work. */
export class Bystander {
  readonly #hub: HubProcess
  readonly agent: PlayedAgent
  readonly #viewer: RawSocket
  /** How often the work was done. */
  rounds = 0

  constructor(hub: HubProcess, agent: PlayedAgent, viewer: RawSocket) {
    this.#hub = hub
    this.agent = agent
    this.#viewer = viewer
  }

  static async on(stage: Stage, hub: HubProcess): Promise<Bystander> {
    const agent = await stage.agent(hub)
    return new Bystander(hub, agent, await stage.viewer(hub, agent.sessionId))
  }

  /** A message, a reply and an answered question: each arrives, and soon. */
  async work(withinMs = 5_000): Promise<void> {
    const before = loopMs(this.#hub)
    const { sessionId, socket } = this.agent
    const { uuid } = await this.#hub.post(`/api/sessions/${sessionId}/messages`, { content: "go on" })
    await socket.until((line) => line.type === "user" && line.uuid === uuid)
    const said = this.agent.speak("done")
    await this.#viewer.until((line) => line.ev === "event" && line.message.uuid === said)
    const requestId = this.agent.ask()
    const { ask } = await this.#viewer.until((line) => line.ev === "ask" && line.ask.requestId === requestId)
    await this.#hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
    const reply = await socket.until((line) => line.response?.request_id === requestId)
    expect(reply.response.response.behavior).toBe("allow")
    expect(loopMs(this.#hub) - before, "what the hub did before the bystander's work was done, in ms").toBeLessThan(
      withinMs,
    )
    this.rounds += 1
  }

  /** Again and again until the abuse is over; returns how often. */
  async workWhile(abuse: Promise<unknown>, withinMs?: number): Promise<number> {
    const state = { isOver: false }
    const over = abuse.finally(() => {
      state.isOver = true
    })
    over.catch(() => undefined)
    let times = 0
    for (; times === 0 || !state.isOver; times += 1) await this.work(withinMs)
    await over
    return times
  }
}

export function residentMb(hub: HubProcess): number {
  const status = readFileSync(`/proc/${hub.ready.pid}/status`, "utf8")
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
}

function peakMb(hub: HubProcess): number {
  const status = readFileSync(`/proc/${hub.ready.pid}/status`, "utf8")
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
}

/** Unit of times in `/proc`: a hundredth of a second. */
const TICK_MS = 10

/**
 * What the hub's one thread has worked so far, in ms. Whoever waits for the hub waits for that; on the wall's clock they wait
 * for whatever else the machine does too, and a test must not fail for it.
 */
function loopMs(hub: HubProcess): number {
  const { pid } = hub.ready
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8")
  // The name before them is in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** What the hub did before it answered that it is well. */
export async function healthMs(hub: HubProcess): Promise<number> {
  const before = loopMs(hub)
  const { status } = await fetch(`${hub.ready.url}/healthz`)
  expect(status).toBe(200)
  return loopMs(hub) - before
}

/** What the hub wrote to its log, at least as bad as `level`. */
export function logged(hub: HubProcess, level = 50): Json[] {
  return hub.log
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Json => (line.startsWith("{") ? JSON.parse(line) : { level: 60, msg: line }))
    .filter((line: Json) => line.level >= level)
}

interface Unharmed {
  readonly maxPeakMb?: number
  /** Errors that this abuse must leave in the log. */
  readonly expectedErrors?: RegExp
}

/** After any abuse: it answers, others work, it took no more memory than that, it has nothing to regret, and stops. */
export async function expectUnharmed(hub: HubProcess, bystander: Bystander, options: Unharmed = {}): Promise<void> {
  expect(await healthMs(hub)).toBeLessThan(1_000)
  await bystander.work()
  expect(peakMb(hub), "the most memory it ever had, in MB").toBeLessThan(options.maxPeakMb ?? 600)
  const { expectedErrors } = options
  expect(logged(hub).filter((line) => expectedErrors?.test(line.msg) !== true)).toEqual([])
  const startedAt = performance.now()
  expect(await hub.stop()).toBe(0)
  expect(performance.now() - startedAt, "how long it took to stop").toBeLessThan(5_000)
}
