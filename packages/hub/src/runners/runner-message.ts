import { isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import type { AgentUsage, RunnerFacts, RunnerToHub } from "@signalbox/protocol/runner-wire"

/** No runner that means well has as many. */
const MAX_AGENTS = 10_000
const MAX_LABELS = 100
const MAX_TEXT_CHARS = 4_096

type Hello = Extract<RunnerToHub, { op: "hello" }>
export type Cut = Hello["cut"][number]
export type { Hello }

/** As a runner says it; a newer one may have reasons to refuse that we do not know. */
type RunnerSaid =
  | Exclude<RunnerToHub, { op: "refused" }>
  | { readonly op: "refused"; readonly id: string; readonly code: string; readonly message: string }

/** What a runner says on its control connection. Undefined: not what runners say. */
export function readRunnerMessage(text: string): RunnerSaid | undefined {
  const message = parseObject(text)
  switch (message?.["op"]) {
    case "hello":
      return readHello(message)
    case "stats":
      return {
        op: "stats",
        memoryBytes: amount(message["memoryBytes"]),
        freeMemoryBytes: amount(message["freeMemoryBytes"]),
        loadAverage: amount(message["loadAverage"]),
        agents: listOf(message["agents"], readUsage, MAX_AGENTS),
        ...readSignIn(message),
      }
    case "reply": {
      const id = textOf(message, "id")
      return id === undefined ? undefined : { op: "reply", id, result: message["result"] }
    }
    case "refused": {
      const id = textOf(message, "id")
      const [code, reason] = [short(message, "code"), short(message, "message")]
      return id === undefined ? undefined : { op: "refused", id, code, message: reason }
    }
    default:
      return undefined
  }
}

function readHello(message: Fields): Hello | undefined {
  const runner = readFacts(message["runner"])
  if (runner === undefined) return undefined
  const agents = listOf(message["agents"], readUsage, MAX_AGENTS)
  return { op: "hello", runner, agents, cut: listOf(message["cut"], readCut, MAX_AGENTS) }
}

/** Also for what was kept: an older hub may have written it. */
export function readFacts(value: unknown): RunnerFacts | undefined {
  if (!isObject(value)) return undefined
  const id = short(value, "id")
  if (id === "") return undefined
  return {
    id,
    name: short(value, "name") === "" ? id : short(value, "name"),
    labels: listOf(
      value["labels"],
      (label) => (typeof label === "string" ? label.slice(0, 200) : undefined),
      MAX_LABELS,
    ),
    version: short(value, "version"),
    host: short(value, "host"),
    platform: short(value, "platform"),
    maxAgents: amount(value["maxAgents"]),
    claude: listOf(value["claude"], readClaude, MAX_LABELS),
    hasSimulator: value["hasSimulator"] === true,
    ...(value["takesOptions"] === true ? { takesOptions: true } : {}),
    ...(short(value, "home") === "" ? {} : { home: short(value, "home") }),
    ...(short(value, "claudeProblem") === "" ? {} : { claudeProblem: short(value, "claudeProblem") }),
    ...readSignIn(value),
  }
}

type Fields = Readonly<Record<string, unknown>>

function readSignIn(value: Fields): { readonly signIn?: string | null } {
  if (value["signIn"] === null) return { signIn: null }
  return short(value, "signIn") === "" ? {} : { signIn: short(value, "signIn") }
}

function readClaude(value: unknown): RunnerFacts["claude"][number] | undefined {
  return isObject(value) ? { path: short(value, "path"), version: short(value, "version") } : undefined
}

function readUsage(value: unknown): AgentUsage | undefined {
  if (!isObject(value)) return undefined
  const [spawn, session] = [short(value, "spawn"), short(value, "session")]
  if (spawn === "" || session === "") return undefined
  const memoryBytes = amount(value["memoryBytes"])
  return { spawn, session, pid: amount(value["pid"]), memoryBytes, cpuPercent: amount(value["cpuPercent"]) }
}

function readCut(value: unknown): Cut | undefined {
  if (!isObject(value)) return undefined
  const [spawn, session] = [short(value, "spawn"), short(value, "session")]
  return spawn === "" || session === "" ? undefined : { spawn, session, reason: short(value, "reason") }
}

function listOf<T>(value: unknown, read: (item: unknown) => T | undefined, most: number): readonly T[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, most).flatMap((item) => read(item) ?? [])
}

function short(value: Fields, name: string): string {
  return textOf(value, name)?.slice(0, MAX_TEXT_CHARS) ?? ""
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0
}
