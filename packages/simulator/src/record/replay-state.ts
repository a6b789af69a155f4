import { fieldOf, parseObject, textOf } from "@signalbox/protocol/envelope"
import { Waker } from "@signalbox/transport/pacing"
import { objectsIn, textsIn } from "../json.ts"
import type { Randomness } from "../randomness.ts"
import type { ReplayStep } from "./replay-schema.ts"

export interface HostRequest {
  readonly id: string
  readonly subtype: string
  readonly request: Readonly<Record<string, unknown>>
}

/** A host that talks and talks to a replay that does not listen is not kept word for word. */
const MAX_KEPT = 10_000

/** Keeps what the host has said and the replay has not come to yet. */
export class HostInbox {
  /** The uuids of its messages; some have none. */
  readonly users: (string | undefined)[] = []
  readonly requests: HostRequest[] = []
  readonly answered = new Set<string>()
  isEnded = false
  /** Woken when something has come in. */
  readonly changes = new Waker()

  end(): void {
    this.isEnded = true
    this.changes.wake()
  }

  take(line: string): void {
    const message = parseObject(line) ?? {}
    if (message["type"] === "user" && this.users.length < MAX_KEPT) this.users.push(textOf(message, "uuid"))
    const isAnswer = message["type"] === "control_response"
    const answered = isAnswer ? textOf(fieldOf(message, "response"), "request_id") : undefined
    if (answered !== undefined && this.answered.size < MAX_KEPT) this.answered.add(answered)
    if (message["type"] === "control_request") this.#takeRequest(message)
    this.changes.wake()
  }

  takeRequest(subtype: string): HostRequest | undefined {
    const at = this.requests.findIndex((request) => request.subtype === subtype)
    return at === -1 ? undefined : this.requests.splice(at, 1)[0]
  }

  #takeRequest(message: Readonly<Record<string, unknown>>): void {
    const request = fieldOf(message, "request")
    const [id, subtype] = [textOf(message, "request_id"), textOf(request, "subtype")]
    if (id === undefined || subtype === undefined || request === undefined) return
    if (this.requests.length < MAX_KEPT) this.requests.push({ id, subtype, request })
  }
}

/** Finds the host's requests in a replay and the replies to them, and keeps which of them are done with. */
export class ReplayIndex {
  readonly #requests = new Map<string, number[]>()
  readonly #replies = new Map<string, number[]>()
  readonly done = new Set<number>()

  constructor(steps: readonly ReplayStep[]) {
    steps.forEach((step, at) => {
      if ("request" in step) note(this.#requests, step.request.subtype, at)
      if ("reply" in step) note(this.#replies, step.to, at)
    })
  }

  /** A request of this kind that has not had its turn yet. */
  requestFor(subtype: string): number | undefined {
    return this.#requests.get(subtype)?.find((at) => !this.done.has(at))
  }

  /** The replies to it that were not given yet. */
  repliesTo(name: string): number[] {
    return (this.#replies.get(name) ?? []).filter((at) => !this.done.has(at))
  }
}

function note(lists: Map<string, number[]>, name: string, at: number): void {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [at])
  else list.push(at)
}

type Request = Readonly<Record<string, unknown>>

/**
 * Registrations of the host of now in the place of the recorded one's: hooks by their event and order, MCP
 * servers by their name. What it has not is not asked of it.
 */
export class Registrations {
  readonly #hooks = new Map<string, string>()
  #missingServers = new Set<string>()

  /** `live` is missing when the host of now never said `initialize`. */
  initialize(recorded: Request, live: Request | undefined): void {
    const then = hooksOf(recorded)
    const now = live === undefined ? new Map<string, string[]>() : hooksOf(live)
    for (const [event, ids] of then) {
      ids.forEach((id, index) => {
        const instead = now.get(event)?.[index]
        if (instead !== undefined) this.#hooks.set(id, instead)
      })
    }
    const here = new Set(serversOf(live ?? {}))
    this.#missingServers = new Set(serversOf(recorded).filter((name) => !here.has(name)))
  }

  /** The request as the host of now can answer it; undefined if it cannot. */
  translate(request: Request & { subtype: string }): (Request & { subtype: string }) | undefined {
    if (request.subtype === "hook_callback") {
      const callback_id = this.#hooks.get(textOf(request, "callback_id") ?? "")
      return callback_id === undefined ? undefined : { ...request, callback_id }
    }
    const server = request.subtype === "mcp_message" ? textOf(request, "server_name") : undefined
    return server !== undefined && this.#missingServers.has(server) ? undefined : request
  }
}

function hooksOf(initialize: Request): Map<string, string[]> {
  const events = Object.entries(fieldOf(initialize, "hooks") ?? {})
  const idsIn = (matcher: Request) => textsIn(matcher["hookCallbackIds"])
  return new Map(events.map(([event, matchers]) => [event, objectsIn(matchers).flatMap(idsIn)]))
}

function serversOf(initialize: Request): string[] {
  return textsIn(initialize["sdkMcpServers"])
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/**
 * The ids of a recording, and those that stand for them now: two replays at once must not say the same ones. Only what is
 * known to be an id is replaced, wherever it stands; a text that happens to look like one is kept.
 */
export class LiveIds {
  readonly #live = new Map<string, string>()
  readonly #random: Randomness

  constructor(random: Randomness) {
    this.#random = random
  }

  learn(recorded: string, live: string): void {
    this.#live.set(recorded, live)
  }

  of(recorded: string): string {
    const known = this.#live.get(recorded)
    if (known !== undefined) return known
    const fresh = this.#random.uuid()
    this.#live.set(recorded, fresh)
    return fresh
  }

  rewrite(line: string): string {
    return line.replaceAll(UUID, (id) => this.#live.get(id) ?? id)
  }
}

/** The answer to what a recording has none for. `initialize` and an interrupt succeed: a host would give up otherwise. */
export function strayAnswer({ id, subtype }: HostRequest): Record<string, unknown> {
  if (subtype === "initialize") {
    const lists = { commands: [], agents: [], models: [], available_output_styles: ["default"] }
    return { subtype: "success", request_id: id, response: { ...lists, output_style: "default", account: {} } }
  }
  if (subtype === "interrupt") return { subtype: "success", request_id: id }
  const error = `The recording has no answer to ${subtype}: record a conversation in which the host asks it.`
  return { subtype: "error", request_id: id, error }
}
