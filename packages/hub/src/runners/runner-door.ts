import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { DEFAULT_MAX_LINE_BYTES } from "@signalbox/protocol"
import { parseObject, textOf } from "@signalbox/protocol/envelope"
import type { AttachAgent } from "@signalbox/protocol/runner-wire"
import { COME_BACK, NOT_ALLOWED } from "@signalbox/transport"
import type { Authority } from "../auth/authority.ts"
import { HubError } from "../errors.ts"
import { Door } from "../http/door.ts"
import type { Caller } from "../model/access.ts"
import { DoorSocket, TakenOfProcesses } from "./door-socket.ts"
import type { ProcessEndings } from "./process-endings.ts"
import { RunnerAgent, type RunnerAgentOptions, readBranch } from "./runner-agent.ts"
import type { RunnerRefusals } from "./runner-claims.ts"
import { RunnerConnection } from "./runner-connection.ts"
import type { RunnerDesk } from "./runner-desk.ts"

export interface RunnerDoorOptions
  extends Pick<RunnerAgentOptions, "registry" | "metrics" | "turns" | "journal" | "clients" | "epochOf"> {
  readonly authority: Authority
  readonly desk: RunnerDesk
  readonly refusals: RunnerRefusals
  readonly endings: ProcessEndings
  readonly onTrouble: (what: string, error: unknown) => void
  readonly pingMs?: number
}

const MAX_RUNNERS = 1_000
const MAX_AGENTS = 10_000
/** Half-open connections are noticed after two of them. */
const PING_MS = 12_000
const HELLO_MS = 10_000
/** A long line, with as many short ones as may share its frame. */
const MAX_PAYLOAD_BYTES = 4 * DEFAULT_MAX_LINE_BYTES
const NOT_OURS = 4004

type Place = { readonly kind: "control" } | { readonly kind: "agent"; readonly spawn: string }

/** `/runner/control` and `/runner/agents/:spawn`: for runners alone. */
export class RunnerDoor {
  readonly #options: RunnerDoorOptions
  readonly #door: Door<DoorSocket>
  readonly #controls = new Map<DoorSocket, Promise<void>>()
  readonly #agents = new Map<DoorSocket, Promise<void>>()
  readonly #taken = new TakenOfProcesses(2 * MAX_AGENTS)

  constructor(options: RunnerDoorOptions) {
    const { authority, pingMs = PING_MS } = options
    this.#options = options
    this.#door = new Door({ authority, maxPayloadBytes: MAX_PAYLOAD_BYTES, pingMs })
  }

  handles(path: string): boolean {
    return placeOf(path) !== undefined
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const place = placeOf((request.url ?? "/").split("?", 1)[0] ?? "/")
    this.#door.letIn(
      { request, socket, head },
      ({ caller }) => this.#check(caller, place),
      (webSocket, { caller, to }) => this.#enter(new DoorSocket({ socket: webSocket, caller }), to),
    )
  }

  #check(caller: Caller | null, place: Place | undefined): { caller: Caller; to: Place } {
    if (caller === null) throw new HubError("auth/required", "a runner needs its token")
    if (caller.role !== "runner") {
      const message = `the role ${caller.role} may not connect as a runner: make a token of the role runner`
      throw new HubError("auth/forbidden", message)
    }
    const isFull = place?.kind === "agent" ? this.#agents.size >= MAX_AGENTS : this.#controls.size >= MAX_RUNNERS
    if (place === undefined || isFull) throw new HubError("hub/busy", "too many runners are connected")
    return { caller, to: place }
  }

  /** This hub has lost its place: everybody looks for another one. */
  sendAway(reason: string): void {
    this.#door.sendAway(reason)
  }

  /** The hub goes down: runners are told to come back. Resolves when all that came is dealt with. */
  async close(): Promise<void> {
    const runs = [...this.#controls.values(), ...this.#agents.values()]
    this.#door.close()
    await Promise.all(runs)
    this.#options.desk.close()
  }

  #enter(socket: DoorSocket, place: Place): void {
    const [sockets, run] =
      place.kind === "control"
        ? [this.#controls, new RunnerConnection({ ...this.#options, socket, listener: this.#options.desk }).run()]
        : [this.#agents, this.#runAgent(socket, place.spawn)]
    const over = async () => {
      await run.catch((error: unknown) => {
        this.#options.onTrouble("a runner's connection", error)
        return socket.end(COME_BACK, "The hub failed to handle this connection. Reconnect.")
      })
      sockets.delete(socket)
      this.#door.delete(socket)
      await socket.end(1000, "done")
    }
    sockets.set(socket, over())
    this.#door.add(socket)
  }

  async #runAgent(socket: DoorSocket, spawn: string): Promise<void> {
    const attach = await this.#readAttach(socket)
    if (attach === undefined) return
    if (!(await this.#take(attach.session, spawn))) return socket.end(NOT_OURS, "the hubs do not know this process")
    // The runner's word that it started the process may be a moment behind the process itself.
    const { launch } = this.#options.registry.loaded(attach.session) ?? {}
    if (launch?.spawn === spawn) await launch.done.catch(() => undefined)
    const session = attach.spawn === spawn ? await this.#options.desk.sessionOf(attach.session, spawn) : undefined
    if (session === undefined) return socket.end(NOT_OURS, "the hub does not know this process")
    const may = await this.#options.desk.mayAttach(session, spawn, socket.tokenId)
    if (may === "not yet") return socket.end(COME_BACK, "the runner says hello first")
    if (may !== "yes") return this.#options.refusals.refuse(socket, may.runner)
    // Its greeting carries the epoch of the session that it names, also when the conversation went on in another.
    const { epochOf, registry } = this.#options
    if (epochOf !== undefined && epochOf(attach.session) === undefined) await registry.find(attach.session)
    const taken = this.#taken.of(spawn, session)
    const agent = new RunnerAgent({
      ...this.#options,
      socket,
      attach,
      session,
      taken,
      exited: async (of, exitedSpawn, exit) => {
        await this.#options.endings.exited(of, exitedSpawn, exit)
        this.#taken.forget(exitedSpawn)
      },
      onTrouble: (error) => this.#options.onTrouble("an agent on a runner", error),
    })
    await agent.run()
  }

  /** False: the hub that has the session knows no such process. */
  async #take(session: string, spawn: string): Promise<boolean> {
    try {
      await this.#options.registry.take(session, spawn)
      return true
    } catch (error) {
      if (error instanceof HubError && error.code === "session/no-agent") return false
      throw error
    }
  }

  async #readAttach(socket: DoorSocket): Promise<AttachAgent | undefined> {
    const timer = setTimeout(() => void socket.end(NOT_ALLOWED, "no attach came in time"), HELLO_MS)
    const first = await socket.first()
    clearTimeout(timer)
    if (first === undefined) return undefined
    const attach = readAttach(first)
    if (attach === undefined) await socket.end(NOT_ALLOWED, "an agent's connection begins with attach")
    return attach
  }
}

function placeOf(path: string): Place | undefined {
  if (path === "/runner/control") return { kind: "control" }
  const spawn = /^\/runner\/agents\/([\w-]{1,100})$/.exec(path)?.[1]
  return spawn === undefined ? undefined : { kind: "agent", spawn }
}

function readAttach(text: string): AttachAgent | undefined {
  const message = parseObject(text)
  const [spawn, session] = [textOf(message, "spawn"), textOf(message, "session")]
  if (message?.["op"] !== "attach" || spawn === undefined || session === undefined) return undefined
  const number = (name: string) => (typeof message[name] === "number" ? message[name] : 0)
  const startedAt = textOf(message, "startedAt") ?? ""
  const about = { pid: number("pid"), startedAt, first: number("first"), isOver: message["isOver"] === true }
  return { op: "attach", spawn, session, ...about, branch: readBranch(message["branch"]) }
}
