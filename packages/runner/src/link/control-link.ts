import { isObject, parseObject } from "@signalbox/protocol/envelope"
import type { HubToRunner, RunnerRequest, RunnerToHub } from "@signalbox/protocol/runner-wire"
import { errorText, Refusal, systemCode } from "../errors.ts"
import { HubLink, type LinkSettings } from "./hub-link.ts"

export interface ControlLinkOptions extends LinkSettings {
  readonly hello: () => Extract<RunnerToHub, { op: "hello" }>
  readonly onRequest: (request: RunnerRequest) => Promise<unknown>
  readonly onNoted: (incarnations: readonly string[]) => void
  readonly onUp: (hub: string) => void
  readonly onDown: () => void
}

const MAX_AT_ONCE = 1_000

/** The connection on which a runner and its hub talk about machines and processes. */
export class ControlLink {
  readonly #options: ControlLinkOptions
  readonly #link: HubLink
  #isWelcome = false
  #atOnce = 0

  constructor(options: ControlLinkOptions) {
    this.#options = options
    this.#link = new HubLink({
      ...options,
      path: "/runner/control",
      onOpen: () => this.#link.send(JSON.stringify(options.hello())),
      onText: (text) => {
        for (const line of text.split("\n")) if (line !== "") this.#heard(line)
      },
      onLost: () => this.#lost(),
    })
  }

  /** The hub knows us. */
  get isUp(): boolean {
    return this.#isWelcome
  }

  start(): void {
    this.#link.wake()
  }

  tell(message: RunnerToHub): void {
    if (this.#isWelcome) this.#link.send(JSON.stringify(message))
  }

  close(reason: string): Promise<void> {
    this.#isWelcome = false
    return this.#link.close(reason)
  }

  #lost(): void {
    const wasWelcome = this.#isWelcome
    this.#isWelcome = false
    if (wasWelcome) this.#options.onDown()
  }

  #heard(text: string): void {
    const message = readHubMessage(text)
    switch (message?.ev) {
      case "welcome":
        this.#isWelcome = true
        this.#options.onUp(message.hub)
        return
      case "noted":
        this.#options.onNoted(message.spawns)
        return
      case "request":
        void this.#answer(message.id, message.request)
        return
      case undefined:
        this.#options.log.debug({ text: text.slice(0, 100) }, "The hub sent something newer than this runner")
    }
  }

  async #answer(id: string, request: RunnerRequest): Promise<void> {
    if (this.#atOnce >= MAX_AT_ONCE) {
      const message = `${MAX_AT_ONCE} requests are under way on this runner: try again later`
      return this.#say({ op: "refused", id, code: "runner/full", message })
    }
    this.#atOnce++
    try {
      this.#say({ op: "reply", id, result: (await this.#options.onRequest(request)) ?? null })
    } catch (error) {
      if (!(error instanceof Refusal)) this.#options.log.error({ err: error, kind: request.kind }, "Request failed")
      // The others are questions, and an answer to them is no event.
      else if (request.kind === "launch")
        this.#options.log.warn({ code: error.code }, `Launch refused: ${ownWords(error)}`)
      const code = error instanceof Refusal ? error.code : "runner/spawn-failed"
      this.#say({ op: "refused", id, code, message: failureText(error) })
    } finally {
      this.#atOnce--
    }
  }

  /** An answer belongs to the connection that the request came on; one that is gone asks again. */
  #say(message: RunnerToHub): void {
    this.#link.send(JSON.stringify(message))
  }
}

function failureText(error: unknown): string {
  if (systemCode(error) === "ENOSPC") return "The disk of this runner is full: free some space there."
  return errorText(error)
}

/** The caller hears all of it; what other programs said is not for the log. */
function ownWords({ details, message }: Refusal): string {
  return typeof details["ownWords"] === "string" ? details["ownWords"] : message
}

function readHubMessage(text: string): HubToRunner | undefined {
  const message = parseObject(text) ?? {}
  const { ev, id, request, spawns } = message
  const isWhole =
    ev === "welcome" ||
    (ev === "request" && isObject(request) && typeof id === "string") ||
    (ev === "noted" && Array.isArray(spawns))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own hub wrote it; what a request holds is looked at where it is used
  return isWhole ? (message as unknown as HubToRunner) : undefined
}
