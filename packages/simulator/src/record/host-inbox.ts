import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { parseJson } from "./recording.ts"

export interface HostRequest {
  readonly id: string
  readonly subtype: string
  readonly request: Readonly<Record<string, unknown>>
}

/** A host that talks and talks to a replay that does not listen is not kept word for word. */
const MAX_KEPT = 10_000

/** What the host has said and the replay has not come to yet. */
export class HostInbox {
  /** The uuids of its messages; some have none. */
  readonly users: (string | undefined)[] = []
  readonly requests: HostRequest[] = []
  readonly #answered = new Set<string>()
  #isEnded = false
  #wake: () => void = () => undefined
  #change: Promise<void>

  constructor() {
    this.#change = this.#nextChange()
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  isAnswered(id: string): boolean {
    return this.#answered.has(id)
  }

  /** Resolves when something has come in. */
  changed(): Promise<void> {
    return this.#change
  }

  end(): void {
    this.#isEnded = true
    this.#tell()
  }

  take(line: string): void {
    const message = parseJson(line)
    if (!isObject(message)) return
    if (message["type"] === "user" && this.users.length < MAX_KEPT) this.users.push(textOf(message, "uuid"))
    if (message["type"] === "control_response") this.#takeAnswer(textOf(fieldOf(message, "response"), "request_id"))
    if (message["type"] === "control_request") this.#takeRequest(message)
    this.#tell()
  }

  takeRequest(subtype: string): HostRequest | undefined {
    const at = this.requests.findIndex((request) => request.subtype === subtype)
    return at === -1 ? undefined : this.requests.splice(at, 1)[0]
  }

  #takeAnswer(id: string | undefined): void {
    if (id !== undefined && this.#answered.size < MAX_KEPT) this.#answered.add(id)
  }

  #takeRequest(message: Readonly<Record<string, unknown>>): void {
    const request = fieldOf(message, "request")
    const [id, subtype] = [textOf(message, "request_id"), textOf(request, "subtype")]
    if (id === undefined || subtype === undefined || request === undefined) return
    if (this.requests.length < MAX_KEPT) this.requests.push({ id, subtype, request })
  }

  #tell(): void {
    const wake = this.#wake
    this.#change = this.#nextChange()
    wake()
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
