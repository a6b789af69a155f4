import { type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import {
  type AgentCommand,
  encodeAgentLine,
  encodeNote,
  type LaunchSpec,
  type RunnerFacts,
  type RunnerNote,
  type RunnerRequest,
  type RunnerToHub,
  readFromHub,
} from "@signalbox/protocol/runner-wire"
import { expect, onTestFinished } from "vitest"
import { type RawData, WebSocket } from "ws"
import { type Stage, tokenOf } from "../clients/stage.ts"

const WAIT = { timeout: 15_000, interval: 10 }

export function factsOf(change: Partial<RunnerFacts> = {}): RunnerFacts {
  return {
    id: "runner-1",
    name: "box",
    labels: ["gpu"],
    version: "0.1.0",
    host: "box.example",
    platform: "linux",
    maxAgents: 4,
    claude: [{ path: "/bin/claude", version: "2.1.325" }],
    hasSimulator: true,
    takesOptions: true,
    enforces: true,
    home: "/home/box",
    ...change,
  }
}

export interface FakeRunnerOptions {
  readonly facts?: Partial<RunnerFacts>
  readonly token?: string
  readonly agents?: readonly FakeAgent[]
  readonly cut?: readonly { spawn: string; session: string; reason: string }[]
  /** Does not start what it is asked to start until the test says so. */
  readonly isSlow?: boolean
  /** The answer of its agents to `initialize`. */
  readonly initializeReply?: Readonly<Record<string, unknown>>
  /** Does not answer when it is asked to stop a process; the test does. */
  readonly holdsStops?: boolean
}

interface Asked {
  readonly id: string
  readonly request: RunnerRequest
}

/** A runner at the other end of the hub's doors, whose agents are scripted. */
export class FakeRunner {
  readonly facts: RunnerFacts
  readonly told: Envelope[] = []
  readonly asked: Asked[] = []
  readonly agents = new Map<string, FakeAgent>()
  readonly closed: Promise<number>
  readonly token: string
  readonly #stage: Stage
  readonly #socket: WebSocket
  readonly #options: FakeRunnerOptions
  /** What a launch is refused with. */
  refusal: { code: string; message: string } | undefined
  refusesResumesOnly = false
  isSlow: boolean

  private constructor(stage: Stage, socket: WebSocket, options: FakeRunnerOptions & { token: string }) {
    this.#stage = stage
    this.#socket = socket
    this.#options = options
    this.token = options.token
    this.isSlow = options.isSlow === true
    this.facts = factsOf(options.facts)
    this.closed = new Promise((resolve) => socket.on("close", (code) => resolve(code)))
    socket.on("message", (data) => this.#take(JSON.parse(textIn(data)) as Envelope))
    socket.on("error", () => undefined)
  }

  static async connect(stage: Stage, options: FakeRunnerOptions = {}): Promise<FakeRunner> {
    const token = options.token ?? (await runnerTokenOf(stage))
    const runner = new FakeRunner(stage, await dial(stage, "/runner/control", token), { ...options, token })
    for (const agent of options.agents ?? []) runner.agents.set(agent.spawn, agent)
    const agents = (options.agents ?? []).map(({ spawn, session }) => ({ ...USAGE, spawn, session }))
    runner.say({ op: "hello", runner: runner.facts, agents, cut: options.cut ?? [] })
    await expect.poll(() => runner.told.some((message) => message["ev"] === "welcome"), WAIT).toBe(true)
    onTestFinished(() => runner.leave())
    return runner
  }

  /** `before` is what stands before it in the same frame. */
  say(message: RunnerToHub, before = ""): void {
    this.#socket.send(`${before}${JSON.stringify(message)}`)
  }

  leave(): void {
    this.#socket.close()
    for (const agent of this.agents.values()) agent.leave()
  }

  /** The connection is gone without a goodbye; its agents' stay. */
  cut(): void {
    this.#socket.terminate()
  }

  /** The request of this kind, now or later. */
  async request<K extends RunnerRequest["kind"]>(kind: K, nth = 0): Promise<Asked & { request: { kind: K } }> {
    const found = () => this.asked.filter(({ request }) => request.kind === kind)[nth]
    await expect.poll(found, WAIT).toBeDefined()
    return found() as Asked & { request: { kind: K } }
  }

  async spec(nth = 0): Promise<LaunchSpec> {
    const { request } = await this.request("launch", nth)
    return request.kind === "launch" ? request.spec : expect.fail("no launch")
  }

  /** Starts what the nth launch asked for, and answers it. */
  async start(nth = 0): Promise<FakeAgent> {
    const spec = await this.spec(nth)
    const agent = new FakeAgent(this.#stage, this.token, spec, this.#options.initializeReply)
    this.agents.set(spec.spawn, agent)
    await agent.dial()
    this.reply((await this.request("launch", nth)).id, launchedOf(spec))
    return agent
  }

  /** The agent of the nth launch. */
  async agent(nth = 0): Promise<FakeAgent> {
    const { spawn } = await this.spec(nth)
    await expect.poll(() => this.agents.get(spawn)?.isGreeted, WAIT).toBe(true)
    return this.agents.get(spawn) ?? expect.fail("no agent")
  }

  reply(id: string, result: unknown): void {
    this.say({ op: "reply", id, result })
  }

  refuse(id: string, code: string): void {
    this.say({ op: "refused", id, code, message: "no" } as RunnerToHub)
  }

  /** What it was asked for so far, in order. */
  get kinds(): string[] {
    return this.asked.map(({ request }) => request.kind)
  }

  #take(message: Envelope): void {
    this.told.push(message)
    if (message["ev"] !== "request") return
    const asked = message as unknown as Asked
    this.asked.push(asked)
    const { id, request } = asked
    if (request.kind === "launch" && !this.isSlow) this.#launch(id, request.spec)
    if (request.kind === "stop" && this.#options.holdsStops !== true) this.#stop(id, request.spawn)
  }

  #launch(id: string, spec: LaunchSpec): void {
    if (this.refusal !== undefined && (spec.resume !== undefined || !this.refusesResumesOnly)) {
      return this.say({ op: "refused", id, ...this.refusal } as RunnerToHub)
    }
    const agent = new FakeAgent(this.#stage, this.token, spec, this.#options.initializeReply)
    this.agents.set(spec.spawn, agent)
    this.reply(id, launchedOf(spec))
    // The hub may be gone by then: a test that is over waits for nobody.
    agent.dial().catch(() => undefined)
  }

  #stop(id: string, spawn: string): void {
    this.agents.get(spawn)?.exit({ reason: "it was stopped", signal: "SIGTERM" })
    this.reply(id, {})
  }
}

/** One per hub folder: the runners of a test share it, before and after a restart. */
const tokens = new Map<string, Promise<string>>()

function runnerTokenOf(stage: Stage): Promise<string> {
  const known = tokens.get(stage.folder) ?? tokenOf(stage, "runner").then(({ token }) => token)
  tokens.set(stage.folder, known)
  return known
}

const USAGE = { pid: 7, memoryBytes: 1000, cpuPercent: 1.5 }

function launchedOf({ spawn, cwd, worktree }: LaunchSpec) {
  const made = worktree === undefined ? {} : { worktree: { path: "/trees/one", branch: "signalbox/one" } }
  return { spawn, pid: 7, cwd: cwd ?? "/home/agent", cliVersion: "2.1.325", ...made }
}

/** A process on the fake runner: numbers its lines, keeps them until they are acknowledged, and sends them again. */
export class FakeAgent {
  readonly spawn: string
  readonly session: string
  readonly sessionId: string
  readonly heard: Envelope[] = []
  readonly hooks: Readonly<Record<string, string>>[] = []
  /** The hub's greetings, as they came. */
  readonly greetings: Extract<AgentCommand, { ev: "attached" }>[] = []
  acked = 0
  isGreeted = false
  /** Hears acknowledgements and acts as if it had not: what it said is sent again. */
  isForgetful = false
  isOver = false
  closeCode: number | undefined
  readonly #stage: Stage
  readonly #token: string
  readonly #initializeReply: Readonly<Record<string, unknown>>
  #kept: { number: number; text: string }[] = []
  #last = 0
  #socket: WebSocket | undefined

  constructor(
    stage: Stage,
    token: string,
    spec: Pick<LaunchSpec, "spawn" | "session" | "resume" | "fork">,
    initializeReply: Readonly<Record<string, unknown>> = { commands: [] },
  ) {
    this.#initializeReply = initializeReply
    this.#stage = stage
    this.#token = token
    this.spawn = spec.spawn
    this.session = spec.session
    this.sessionId = spec.resume !== undefined && spec.fork !== true ? spec.resume : `cli-${spec.spawn}`
  }

  /** Connects, also again and to another hub, and sends what is not acknowledged. */
  async dial(stage = this.#stage): Promise<void> {
    this.closeCode = undefined
    const socket = await dial(stage, `/runner/agents/${this.spawn}`, this.#token)
    this.#socket = socket
    socket.on("error", () => undefined)
    socket.on("close", (code) => {
      this.closeCode = code
    })
    socket.on("message", (data) => this.#take(textIn(data)))
    const first = this.#kept[0]?.number ?? this.#last + 1
    const about = { pid: 7, startedAt: "now", first, ...(this.isOver ? { isOver: true } : {}) }
    socket.send(JSON.stringify({ op: "attach", spawn: this.spawn, session: this.session, ...about }))
    for (const { text } of this.#kept) socket.send(text)
  }

  leave(): void {
    this.#socket?.terminate()
  }

  get last(): number {
    return this.#last
  }

  get unacked(): number {
    return this.#kept.length
  }

  get prompts(): unknown[] {
    return this.heard
      .filter((message) => message.type === "user")
      .map((message) => {
        const content = fieldOf(message, "message")?.["content"]
        return Array.isArray(content) ? textOf(content[0], "text") : content
      })
  }

  say(message: Record<string, unknown>): number {
    const number = this.#next()
    this.#put(number, encodeAgentLine(number, JSON.stringify(message)))
    return number
  }

  note(note: RunnerNote): number {
    const number = this.#next()
    this.#put(number, encodeNote(number, note))
    return number
  }

  exit(exit: Extract<RunnerNote, { kind: "exited" }>["exit"]): number {
    return this.note({ kind: "exited", exit })
  }

  init(change: Record<string, unknown> = {}): void {
    this.say({ type: "system", subtype: "init", session_id: this.sessionId, uuid: this.#uuid(), ...change })
  }

  sayText(text: string): void {
    const message = { role: "assistant", content: [{ type: "text", text }] }
    this.say({ type: "assistant", message, session_id: this.sessionId, uuid: this.#uuid() })
  }

  result(): void {
    const about = { session_id: this.sessionId, uuid: this.#uuid(), total_cost_usd: 0.5 }
    this.say({ type: "result", subtype: "success", is_error: false, result: "ok", ...about })
  }

  /** Calls a tool: its message, and the hook before it runs. */
  callTool(id: string, input: Record<string, unknown>, tool = "Bash"): void {
    const message = { role: "assistant", content: [{ type: "tool_use", id, name: tool, input }] }
    this.say({ type: "assistant", message, session_id: this.sessionId, uuid: this.#uuid() })
    this.callHook(id, { tool_name: tool, tool_input: input })
  }

  callHook(id: string, input: Record<string, unknown>, callback = "hub-hook:PreToolUse"): void {
    const called = { hook_event_name: "PreToolUse", permission_mode: "default", tool_use_id: id, ...input }
    const request = { subtype: "hook_callback", callback_id: callback, input: called }
    this.say({ type: "control_request", request_id: `hook-${id}`, request })
  }

  /** The result of a tool. */
  toolResult(id: string, content: unknown, isError = false, more: Record<string, unknown> = {}): void {
    const block = { type: "tool_result", tool_use_id: id, content, is_error: isError }
    this.say({ type: "user", message: { role: "user", content: [block] }, uuid: this.#uuid(), ...more })
  }

  /** The hub's answer to a request of this agent, now or later. */
  async answerTo(requestId: string): Promise<unknown> {
    const found = () =>
      this.heard.map((message) => fieldOf(message, "response")).find((each) => each?.["request_id"] === requestId)
    await expect.poll(found, WAIT).toBeDefined()
    return found()?.["response"]
  }

  askPermission(requestId: string): void {
    const request = {
      subtype: "can_use_tool",
      tool_name: "Bash",
      input: { command: "ls" },
      tool_use_id: `t-${requestId}`,
    }
    this.say({ type: "control_request", request_id: requestId, request })
  }

  async hears(text: string): Promise<void> {
    await expect.poll(() => this.prompts, WAIT).toContain(text)
  }

  async allAcked(): Promise<void> {
    await expect.poll(() => this.acked, WAIT).toBe(this.#last)
  }

  #next(): number {
    this.#last += 1
    return this.#last
  }

  #uuid(): string {
    return `${this.spawn}/${this.#last + 1}`
  }

  #put(number: number, text: string): void {
    this.#kept.push({ number, text })
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text)
  }

  #take(text: string): void {
    const said = readFromHub(text)
    if (said?.kind === "ack") {
      this.acked = Math.max(this.acked, said.number)
      if (!this.isForgetful) this.#kept = this.#kept.filter(({ number }) => number > said.number)
    }
    if (said?.kind === "command" && said.command.ev === "hooks") this.hooks.push(said.command.onFailure)
    if (said?.kind === "command" && said.command.ev === "attached") this.greetings.push(said.command)
    if (said?.kind !== "line") return
    const message = JSON.parse(said.line) as Envelope
    this.heard.push(message)
    const request = fieldOf(message, "request")
    if (message.type !== "control_request" || request === undefined) return
    const isGreeting = request["subtype"] === "initialize"
    if (isGreeting) this.isGreeted = true
    const about = { subtype: "success", request_id: textOf(message, "request_id") }
    const response = isGreeting ? this.#initializeReply : { commands: [] }
    this.say({ type: "control_response", response: { ...about, response } })
  }
}

function textIn(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : ""
}

export async function dial(stage: Stage, path: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${stage.wsUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve())
    socket.once("error", reject)
  })
  return socket
}
