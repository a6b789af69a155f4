import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import {
  type AgentCommand,
  type AttachAgent,
  encodeAck,
  encodeCommand,
  encodeLineForAgent,
  type FromRunner,
  type Launched,
  type LaunchSpec,
  type RunnerRequest,
  type RunnerToHub,
  readFromRunner,
} from "@signalbox/protocol/runner-wire"
import { type RawData, type WebSocket, WebSocketServer } from "ws"
import { quietPort } from "../../../test/quiet-port.ts"

type Hello = Extract<RunnerToHub, { op: "hello" }>
type Stats = Extract<RunnerToHub, { op: "stats" }>

/** What the test's hub knows of one agent. */
export interface HubAgent {
  readonly attaches: AttachAgent[]
  /** Everything that came, repeats too. */
  readonly frames: FromRunner[]
  /** Lines in the frame that had the most. */
  mostLines: number
  /** Each number once, as a hub would log them. */
  readonly taken: FromRunner[]
  /** A number that was missing when a later one came. */
  gap: string | undefined
  socket: WebSocket | undefined
}

/** A hub as far as a runner sees one: the two doors, and a switch to be away. */
export class TestHub {
  readonly hellos: Hello[] = []
  readonly stats: Stats[] = []
  readonly agents = new Map<string, HubAgent>()
  /** Whether what comes is acknowledged at once. */
  isAcking = true
  /** What a connection for an agent is closed with, if it is not wanted. */
  refuseAgents: { code: number; reason: string } | undefined
  /** The answer to a hello, in place of a welcome. */
  refuseHello: { code: number; reason: string } | undefined
  /** Everybody else gets an HTTP error. */
  token = "runner-token"
  refusals = 0
  #port = 0
  #server: WebSocketServer | undefined
  #control: WebSocket | undefined
  #nextRequest = 1
  readonly #waiting = new Map<string, (message: RunnerToHub) => void>()
  #changed: (() => void)[] = []

  static async open(): Promise<TestHub> {
    const hub = new TestHub()
    hub.#port = await quietPort()
    await hub.come()
    return hub
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get isControlled(): boolean {
    return this.#control !== undefined
  }

  /** On the port it had before. */
  async come(): Promise<void> {
    const server = new WebSocketServer({
      port: this.#port,
      host: "127.0.0.1",
      maxPayload: 256 * 1024 * 1024,
      verifyClient: ({ req }: { req: IncomingMessage }) => this.#admits(req.headers.authorization),
    })
    await once(server, "listening")
    // A server that listens on a port has an address with one.
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
    server.on("connection", (socket, request) => {
      const spawn = /^\/runner\/agents\/(.+)$/.exec(request.url ?? "")?.[1]
      if (spawn !== undefined) this.#takeAgent(spawn, socket)
      else if (request.url === "/runner/control") this.#takeControl(socket)
      else socket.close(4004)
    })
  }

  /** As if it were killed. */
  async leave(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    for (const socket of server.clients) socket.terminate()
    await new Promise((resolve) => server.close(resolve))
    this.#control = undefined
    for (const agent of this.agents.values()) agent.socket = undefined
  }

  async request(request: RunnerRequest): Promise<Extract<RunnerToHub, { op: "reply" | "refused" }>> {
    await this.until(() => this.#control !== undefined)
    const id = String(this.#nextRequest++)
    const answered = new Promise<RunnerToHub>((resolve) => this.#waiting.set(id, resolve))
    this.#control?.send(JSON.stringify({ ev: "request", id, request }))
    const answer = await answered
    if (answer.op !== "reply" && answer.op !== "refused") throw new Error(`answered with ${answer.op}`)
    return answer
  }

  /** The reply to a request that must succeed. */
  async ask(request: RunnerRequest): Promise<unknown> {
    const answer = await this.request(request)
    if (answer.op === "refused") throw new Error(`${answer.code}: ${answer.message}`)
    return answer.result
  }

  async launch(spec: LaunchSpec): Promise<Launched> {
    return (await this.ask({ kind: "launch", spec })) as Launched
  }

  agent(spawn: string): HubAgent {
    const known = this.agents.get(spawn)
    if (known !== undefined) return known
    const agent: HubAgent = { attaches: [], frames: [], mostLines: 0, taken: [], gap: undefined, socket: undefined }
    this.agents.set(spawn, agent)
    return agent
  }

  /** The lines of an agent, each number once, as a hub would log them; throws if one is missing. */
  lines(spawn: string): string[] {
    return this.inOrder(spawn).flatMap((frame) => (frame.kind === "line" ? [frame.line] : []))
  }

  notes(spawn: string) {
    return this.inOrder(spawn).flatMap((frame) => (frame.kind === "note" ? [frame.note] : []))
  }

  inOrder(spawn: string): readonly FromRunner[] {
    const { taken, gap } = this.agent(spawn)
    if (gap !== undefined) throw new Error(gap)
    return taken
  }

  exit(spawn: string) {
    return this.notes(spawn).flatMap((note) => (note.kind === "exited" ? [note.exit] : []))[0]
  }

  send(spawn: string, message: unknown): void {
    this.agent(spawn).socket?.send(encodeLineForAgent(JSON.stringify(message)))
  }

  say(spawn: string, content: string, uuid: string = crypto.randomUUID()): void {
    this.send(spawn, { type: "user", uuid, message: { role: "user", content } })
  }

  command(spawn: string, command: AgentCommand): void {
    this.agent(spawn).socket?.send(encodeCommand(command))
  }

  ack(spawn: string, number: number): void {
    this.agent(spawn).socket?.send(encodeAck(number))
  }

  note(spawns: readonly string[]): void {
    this.#control?.send(JSON.stringify({ ev: "noted", spawns }))
  }

  /** Waits until something that came makes it so. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.push(resolve))
  }

  #admits(authorization: string | undefined): boolean {
    const isKnown = authorization === `Bearer ${this.token}`
    if (!isKnown) this.refusals++
    this.#wake()
    return isKnown
  }

  #takeControl(socket: WebSocket): void {
    socket.on("message", (data) => {
      const message = JSON.parse(textOf(data)) as RunnerToHub
      if (message.op === "hello") {
        this.hellos.push(message)
        this.#wake()
        if (this.refuseHello !== undefined) return socket.close(this.refuseHello.code, this.refuseHello.reason)
        this.#control = socket
        socket.send(JSON.stringify({ ev: "welcome", hub: "test" }))
      } else if (message.op === "stats") this.stats.push(message)
      else {
        this.#waiting.get(message.id)?.(message)
        this.#waiting.delete(message.id)
      }
      this.#wake()
    })
    socket.on("close", () => {
      if (this.#control === socket) this.#control = undefined
      this.#wake()
    })
  }

  #takeAgent(spawn: string, socket: WebSocket): void {
    if (this.refuseAgents !== undefined) return socket.close(this.refuseAgents.code, this.refuseAgents.reason)
    const agent = this.agent(spawn)
    agent.socket = socket
    socket.on("message", (data) => {
      const lines = textOf(data).split("\n")
      agent.mostLines = Math.max(agent.mostLines, lines.length)
      for (const text of lines) this.#heard(agent, text)
      const last = agent.frames.at(-1)
      if (this.isAcking && last !== undefined) socket.send(encodeAck(last.number))
      this.#wake()
    })
    socket.on("close", () => {
      if (agent.socket === socket) agent.socket = undefined
      this.#wake()
    })
  }

  #heard(agent: HubAgent, text: string): void {
    const frame = readFromRunner(text)
    if (frame === undefined) {
      agent.attaches.push(JSON.parse(text) as AttachAgent)
      return
    }
    agent.frames.push(frame)
    if (frame.number === agent.taken.length + 1) agent.taken.push(frame)
    else if (frame.number > agent.taken.length) agent.gap = `number ${frame.number} came after ${agent.taken.length}`
  }

  #wake(): void {
    const changed = this.#changed
    this.#changed = []
    for (const wake of changed) wake()
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8")
  return (data instanceof ArrayBuffer ? Buffer.from(data) : data).toString("utf8")
}
