import { mkdirSync, realpathSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  composeRequest,
  composeUserMessage,
  createPendingRequests,
  decode,
  type Envelope,
  encode,
  fieldOf,
  textOf,
} from "@signalbox/protocol"
import { claudeEnvironment, openScriptedApi, type Scenario, type ScriptedApi } from "@signalbox/simulator"
import type { ClaudeFlags, Closed } from "@signalbox/transport"
import { expect } from "vitest"
import { type AgentLink, openLink } from "./agent-link.ts"
import { type Cell, driftVersion } from "./cells.ts"
import { type Finding, findingsInLine, findingsInReply, report } from "./drift-findings.ts"
import { openRecorder, problemWith, type Recorder } from "./line-check.ts"

export interface AgentOptions {
  readonly scenario: Scenario
  readonly flags?: ClaudeFlags
  readonly env?: Readonly<Record<string, string>>
  readonly argv?: readonly string[]
  /** A folder of an earlier agent, to resume what it left there. */
  readonly folder?: AgentFolder
  /** Answers the agent's control requests; null leaves one open. Left out, a request fails the case. */
  readonly onRequest?: (request: ControlRequestLine) => Envelope | null
}

/** A control request off the wire, with the fields every case looks at. */
export interface ControlRequestLine {
  readonly request_id: string
  readonly subtype: string
  readonly request: Readonly<Record<string, unknown>>
}

/** Home and working folder of an agent, made for one case. */
export interface AgentFolder {
  readonly home: string
  readonly cwd: string
  remove(): Promise<void>
}

export async function makeFolder(): Promise<AgentFolder> {
  const base = realpathSync(await mkdtemp(join(tmpdir(), "signalbox-agent-")))
  const [home, cwd] = [join(base, "home"), join(base, "project")]
  mkdirSync(home)
  mkdirSync(cwd)
  return { home, cwd, remove: () => rm(base, { recursive: true, force: true, maxRetries: 5 }) }
}

const PATIENCE_MS = 60_000

/** A real CLI with a scripted model, driven from the host's side; every line it says is checked and may be recorded. */
export class AgentHost {
  readonly seen: Envelope[] = []
  readonly api: ScriptedApi
  readonly folder: AgentFolder
  readonly #link: AgentLink
  readonly #options: AgentOptions
  readonly #recorder: Recorder
  readonly #pending = createPendingRequests<Envelope>()
  readonly #problems: string[] = []
  readonly #reading: Promise<void>
  #cursor = 0
  #requests = 0
  #wake: (() => void)[] = []
  #over = false

  private constructor(
    link: AgentLink,
    api: ScriptedApi,
    folder: AgentFolder,
    recorder: Recorder,
    options: AgentOptions,
  ) {
    this.#link = link
    this.api = api
    this.folder = folder
    this.#recorder = recorder
    this.#options = options
    this.#reading = this.#read()
  }

  static async start(cell: Cell, options: AgentOptions): Promise<AgentHost> {
    const api = await openScriptedApi({ scenario: options.scenario })
    const folder = options.folder ?? (await makeFolder())
    const env = claudeEnvironment({ home: folder.home, apiUrl: api.url, extra: { ...options.env } })
    const flags: ClaudeFlags = { permissionPromptTool: "stdio", settingSources: [], ...options.flags }
    const argv = options.argv === undefined ? {} : { argv: options.argv }
    const link = await openLink(cell, { cwd: folder.cwd, env, flags, ...argv })
    const title = expect.getState().currentTestName ?? "case"
    const name = title.slice(title.indexOf(`${cell.name}: `)).replace(`${cell.name}: `, "")
    return new AgentHost(link, api, folder, openRecorder(cell, name, machinePlaces(folder)), options)
  }

  get link(): AgentLink {
    return this.#link
  }

  async send(message: Envelope): Promise<void> {
    const line = encode(message)
    this.#recorder.add("host", line)
    await this.#link.send(line)
  }

  async prompt(text: string, uuid?: string): Promise<void> {
    await this.send(composeUserMessage(text, uuid === undefined ? {} : { uuid }))
  }

  /** Asks the agent and waits for its first answer: the `response` object of the control_response. */
  async request(request: { subtype: string } & Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> {
    const requestId = `host-${++this.#requests}`
    await this.send(composeRequest(requestId, request))
    const answer = await this.#pending.wait(requestId, { timeoutMs: PATIENCE_MS })
    const response = fieldOf(answer, "response") ?? {}
    if (response["subtype"] === "success") this.#note(findingsInReply(request.subtype, response["response"]))
    return response
  }

  /** The payload of a success, or an error of the test. */
  async ask(request: { subtype: string } & Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> {
    const response = await this.request(request)
    expect(response).toMatchObject({ subtype: "success" })
    return fieldOf(response, "response") ?? {}
  }

  /** The next message of this type (and subtype), after the one that was waited for last. */
  async until(type: string, subtype?: string): Promise<Envelope> {
    return this.untilMatch(
      (message) => message.type === type && (subtype === undefined || subtypeOf(message) === subtype),
      subtype === undefined ? type : `${type}/${subtype}`,
    )
  }

  async untilMatch(accepts: (message: Envelope) => boolean, what: string): Promise<Envelope> {
    const deadline = setTimeout(() => this.#wakeAll(), PATIENCE_MS)
    const end = performance.now() + PATIENCE_MS
    try {
      for (;;) {
        for (; this.#cursor < this.seen.length; this.#cursor++) {
          const message = this.seen[this.#cursor]
          if (message !== undefined && accepts(message)) {
            this.#cursor++
            return message
          }
        }
        if (this.#over || performance.now() >= end) throw new Error(this.#gaveUp(what))
        await new Promise<void>((resolve) => this.#wake.push(resolve))
      }
    } finally {
      clearTimeout(deadline)
    }
  }

  /** Sends a prompt and reads to the end of its turn; returns the turn's messages, the result last. */
  async turn(text: string, uuid?: string): Promise<Envelope[]> {
    const from = this.#cursor
    await this.prompt(text, uuid)
    await this.until("result")
    return this.seen.slice(from, this.#cursor)
  }

  /** Ends the input and waits until the process is gone. */
  async end(): Promise<Closed> {
    const closed = await this.#link.end()
    await this.#reading
    return closed
  }

  /** Resolves when the process has ended by itself. */
  async exited(): Promise<Closed> {
    const closed = await this.#link.child.closed
    await this.#reading
    return closed
  }

  async dispose(): Promise<void> {
    await this.#link.dispose()
    await this.#reading
    await this.api.close()
    if (this.#options.folder === undefined) await this.folder.remove()
    // A drift report collects what is new instead of failing on it.
    if (driftVersion === undefined) expect(this.#problems).toEqual([])
  }

  async #read(): Promise<void> {
    for await (const line of this.#link.lines) {
      this.#recorder.add("agent", line)
      const problem = problemWith(line, "agent")
      if (problem !== undefined) this.#problems.push(problem)
      report(findingsInLine(line))
      const decoded = decode(line)
      if (decoded.kind === "malformed") continue
      // Every decoded message is an object with a type.
      const message: Envelope = { ...decoded.message }
      this.seen.push(message)
      this.#take(message)
      this.#wakeAll()
    }
    this.#over = true
    this.#pending.close("the agent is gone")
    this.#wakeAll()
  }

  /** A field we do not declare is for the drift report; a value that does not fit is a fault of ours. */
  #note(findings: readonly Finding[]): void {
    report(findings)
    for (const { kind, where, what } of findings) if (kind === "mismatch") this.#problems.push(`${where}: ${what}`)
  }

  #take(message: Envelope): void {
    if (message.type === "control_response") {
      this.#pending.answer(textOf(fieldOf(message, "response"), "request_id") ?? "", message)
    }
    if (message.type !== "control_request") return
    const request = fieldOf(message, "request") ?? {}
    const asked = {
      request_id: textOf(message, "request_id") ?? "",
      subtype: textOf(request, "subtype") ?? "",
      request,
    }
    if (this.#options.onRequest === undefined)
      this.#problems.push(`nobody answers ${JSON.stringify(asked).slice(0, 300)}`)
    const answer = this.#options.onRequest?.(asked) ?? null
    if (answer !== null) void this.send(answer).catch((error: unknown) => this.#problems.push(String(error)))
  }

  #wakeAll(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const resolve of waiting) resolve()
  }

  #gaveUp(what: string): string {
    const last = this.seen.slice(-8).map((message) => JSON.stringify(message).slice(0, 200))
    const errors = this.api.errors.map((error) => error.message)
    return [
      `${what} did not come${this.#over ? ": the agent is gone" : ""}`,
      ...last,
      `stderr: ${this.#link.child.stderrTail().slice(-500)}`,
      `api: ${errors.join("; ")}`,
    ].join("\n  ")
  }
}

export function subtypeOf(message: Envelope): string | undefined {
  return textOf(message, "subtype") ?? textOf(fieldOf(message, "request"), "subtype")
}

/** Runs a case with an agent and takes the agent down whatever happens. */
export async function withAgent(
  cell: Cell,
  options: AgentOptions,
  run: (agent: AgentHost) => Promise<void>,
): Promise<void> {
  const agent = await AgentHost.start(cell, options)
  try {
    await run(agent)
  } catch (error) {
    // The case's own failure says more than what taking down may add to it.
    await agent.dispose().catch(() => undefined)
    throw error
  }
  await agent.dispose()
}

function machinePlaces(folder: AgentFolder): ReadonlyMap<string, string> {
  const dashed = (path: string) => path.replaceAll(/[^a-zA-Z0-9]/g, "-")
  const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
  const places: [string, string][] = [
    [folder.cwd, "/home/user/project"],
    [folder.home, "/home/user"],
    [repository, "/home/user/signalbox"],
  ]
  return new Map([...places, ...places.map(([place, instead]): [string, string] => [dashed(place), dashed(instead)])])
}
