import { existsSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Options, Query, SDKMessage } from "../src/index.ts"

export const FAKE_CLI = fileURLToPath(new URL("fake-cli.mjs", import.meta.url))

/** What the fake CLI does, in order. */
export type Step =
  | { say: unknown; times?: number }
  /** A line of this type, or `type/subtype` of a request, or the `end` of the input. */
  | { until: string }
  | { stderr: string }
  | { pause: number }
  | { flood: number; message: Record<string, unknown> }
  | { kill: NodeJS.Signals }
  | { exit: number }

export interface FakeSettings {
  /** Calls that are never answered. */
  mute?: string[]
  refuse?: Record<string, string>
  replies?: Record<string, unknown>
  /** Fields of the envelope of the reply to `initialize`. */
  pending?: Record<string, unknown>
  ignoreTerm?: boolean
  /** Goes on living when its input has ended. */
  stay?: boolean
}

interface LogEntry {
  argv?: string[]
  pid?: number
  cwd?: string
  env?: Record<string, string>
  line?: Record<string, never> & { type: string; response?: Record<string, unknown>; request?: Record<string, unknown> }
  end?: boolean
  signal?: string
  flooded?: number
}

export interface FakeAgent {
  options: Options
  log(): LogEntry[]
  /** Resolves when the log has an entry that this accepts. */
  untilLogged(accepts: (entry: LogEntry) => boolean): Promise<LogEntry>
  /** The answers to the agent's own requests, by their id. */
  answers(): Record<string, Record<string, unknown>>
  sent(type: string): Record<string, unknown>[]
}

export function fakeAgent(steps: Step[], options: Options = {}, settings: FakeSettings = {}): FakeAgent {
  const file = join(mkdtempSync(join(tmpdir(), "signalbox-fake-")), "log")
  const env = {
    PATH: process.env["PATH"],
    FAKE_STEPS: JSON.stringify(steps),
    FAKE_SETTINGS: JSON.stringify(settings),
    FAKE_LOG: file,
    ...options.env,
  }
  const log = (): LogEntry[] => {
    if (!existsSync(file)) return []
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1)
    return lines.map((line): LogEntry => JSON.parse(line))
  }
  const lines = () => log().flatMap(({ line }) => (line === undefined ? [] : [line]))
  return {
    options: { pathToClaudeCodeExecutable: FAKE_CLI, ...options, env },
    log,
    async untilLogged(accepts) {
      for (;;) {
        const found = log().find(accepts)
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    answers() {
      const responses = lines().flatMap(({ type, response }) =>
        type === "control_response" && response ? [response] : [],
      )
      return Object.fromEntries(responses.map((response) => [String(response["request_id"]), response]))
    },
    sent: (type) => lines().filter((line) => line.type === type),
  }
}

export const identity = { uuid: "00000000-0000-4000-8000-000000000001", session_id: "s-1" }

export function result(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: 1,
    duration_api_ms: 1,
    num_turns: 1,
    result: "done",
    total_cost_usd: 0,
    usage: { input_tokens: 1, output_tokens: 1 },
    modelUsage: {},
    permission_denials: [],
    ...identity,
    ...over,
  }
}

export function system(subtype: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: "system", subtype, ...fields, ...identity }
}

export function state(name: "idle" | "running" | "requires_action"): Record<string, unknown> {
  return system("session_state_changed", { state: name, sdk_host_only: true })
}

export function ask(id: string, request: Record<string, unknown>): Record<string, unknown> {
  return { type: "control_request", request_id: id, request }
}

export const canUseBash = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "tu-1" }

export interface Heard {
  kinds: string[]
  messages: SDKMessage[]
  error?: unknown
}

/** Everything a query yields, and what it throws. */
export async function hear(query: Query): Promise<Heard> {
  const messages: SDKMessage[] = []
  const kinds = () =>
    messages.map((message) => ("subtype" in message ? `${message.type}/${message.subtype}` : message.type))
  try {
    for await (const message of query) messages.push(message)
    return { kinds: kinds(), messages }
  } catch (error) {
    return { kinds: kinds(), messages, error }
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ")
  } catch {
    return false
  }
}
