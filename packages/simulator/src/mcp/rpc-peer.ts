import { pathToFileURL } from "node:url"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { present } from "../profiles/shared.ts"
import { CONNECTION_CLOSED, type McpClient, type SendOptions } from "./link.ts"

type Answer = Readonly<Fields> | undefined

/** Requests and answers of JSON-RPC over one connection, in both directions. */
export class RpcPeer {
  readonly #pending = new Map<unknown, (answer: Answer) => void>()
  readonly #write: (message: Fields) => void
  readonly #serve: ServeMcp
  #closed = false

  constructor(write: (message: Fields) => void, serve: ServeMcp) {
    this.#write = write
    this.#serve = serve
  }

  get isClosed(): boolean {
    return this.#closed
  }

  send(message: Fields, { signal, timeoutMs }: SendOptions): Promise<Answer> {
    const { id } = message
    if (this.#closed) return Promise.resolve(CONNECTION_CLOSED)
    if (id === undefined) {
      this.#write(message)
      return Promise.resolve(undefined)
    }
    return new Promise((resolve) => {
      const settle = (answer: Answer) => {
        if (!this.#pending.delete(id)) return
        clearTimeout(timer)
        signal?.removeEventListener("abort", abort)
        resolve(answer)
      }
      const abort = () => {
        const params = { requestId: id, reason: "AbortError" }
        if (!this.#closed) this.#write({ method: "notifications/cancelled", params, jsonrpc: "2.0" })
        settle(undefined)
      }
      const timer = timeoutMs === undefined ? undefined : setTimeout(settle, timeoutMs, undefined)
      this.#pending.set(id, settle)
      signal?.addEventListener("abort", abort, { once: true })
      this.#write(message)
    })
  }

  /** A message of the server's. What is none is passed over. */
  take(message: unknown): void {
    if (!isObject(message)) return
    const { id, method } = message
    if (typeof method !== "string") this.#pending.get(id)?.(message)
    else if (id !== undefined) void this.#answer(id, message)
  }

  close(): void {
    this.#closed = true
    for (const settle of Array.from(this.#pending.values())) settle(CONNECTION_CLOSED)
  }

  async #answer(id: unknown, request: Readonly<Fields>): Promise<void> {
    const answer = await this.#serve(request)
    if (!this.#closed) this.#write({ ...answer, jsonrpc: "2.0", id })
  }
}

/** Answers what an MCP server asks of its client. */
export type ServeMcp = (request: Readonly<Fields>) => Promise<Fields>

/** As a CLI answers: where it works, what the user says, and that it is there. */
export function serveFor(client: McpClient, server: string): ServeMcp {
  return async ({ method, params }) => {
    if (method === "ping") return { result: {} }
    if (method === "roots/list") return { result: { roots: [{ uri: pathToFileURL(client.launch.cwd).href }] } }
    if (method === "elicitation/create" && client.profile.quirks.elicits) {
      return { result: await elicit(client, server, isObject(params) ? params : {}) }
    }
    return { error: { code: -32_601, message: "Method not found" } }
  }
}

async function elicit(client: McpClient, server: string, params: Readonly<Fields>): Promise<Readonly<Fields>> {
  const schema = fieldOf(params, "requestedSchema")
  const url = textOf(params, "url")
  const answer = await client.host.ask(
    present({
      subtype: "elicitation",
      mcp_server_name: server,
      message: params["message"],
      mode: url === undefined ? "form" : "url",
      url,
      elicitation_id: params["elicitationId"],
      requested_schema: schema,
      property_order:
        client.profile.quirks.ordersProperties && schema !== undefined
          ? Object.keys(fieldOf(schema, "properties") ?? {})
          : undefined,
    }),
  )
  return answer.kind === "success" && isObject(answer.payload) ? answer.payload : { action: "cancel" }
}
