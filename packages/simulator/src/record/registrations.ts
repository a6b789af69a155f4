import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"

type Request = Readonly<Record<string, unknown>>

/**
 * What the host of now has registered in the place of what the recorded one had: hooks by their event and order, MCP
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
  return new Map(events.map(([event, matchers]) => [event, Array.isArray(matchers) ? matchers.flatMap(idsIn) : []]))
}

function idsIn(matcher: unknown): string[] {
  const ids = isObject(matcher) ? matcher["hookCallbackIds"] : undefined
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : []
}

function serversOf(initialize: Request): string[] {
  const names = initialize["sdkMcpServers"]
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : []
}
