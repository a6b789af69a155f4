import type { JsonRpcMessage } from "@signalbox/protocol"
import type { McpServerInstance } from "../types/mcp.ts"
import { CONNECTION_CLOSED, errorResponse, INTERNAL_ERROR, kindOf, type RpcId } from "./json-rpc.ts"
import { type ConnectionUser, connectionTo } from "./server-connection.ts"

export interface McpBridgeOptions {
  /** What the agent calls the server; for messages of errors. */
  readonly name: string
  /** Anything with `connect(transport)`. */
  readonly server: McpServerInstance
  /** Takes what the server says of its own accord. */
  readonly sendToAgent: (message: JsonRpcMessage) => void | Promise<void>
}

/** A server of this process as an agent sees it. */
export interface McpBridge {
  /** A message of the agent's. Resolves with the response to a request, and with undefined to anything else. Never rejects. */
  receive(message: JsonRpcMessage): Promise<JsonRpcMessage | undefined>
  /** Settles what is open and disconnects the server, unless another bridge uses it. */
  close(): Promise<void>
}

export function createMcpBridge({ name, server, sendToAgent }: McpBridgeOptions): McpBridge {
  const connection = connectionTo(server)
  let isClosed = false
  let announceClosed: () => void = () => undefined
  const closed = new Promise<void>((resolve) => {
    announceClosed = resolve
  })
  const user: ConnectionUser = { deliver: (message) => (isClosed ? undefined : sendToAgent(message)) }

  const ask = async (message: JsonRpcMessage, id: RpcId): Promise<JsonRpcMessage> => {
    const gone = () => errorResponse(id, CONNECTION_CLOSED, `The MCP server "${name}" is closed`)
    if (isClosed) return gone()
    try {
      await Promise.race([connection.join(user), closed])
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return errorResponse(id, INTERNAL_ERROR, `The MCP server "${name}" cannot be connected: ${reason}`)
    }
    return isClosed ? gone() : connection.request(user, message, id)
  }

  return {
    async receive(message) {
      const what = kindOf(message)
      if (what.kind === "request") return ask(message, what.id)
      // Told once the server is connected, in the order of arrival; nobody waits for it, and nobody is told if it fails.
      if (!isClosed)
        void connection.join(user).then(
          () => connection.tell(user, message),
          () => undefined,
        )
      return undefined
    },
    async close() {
      if (isClosed) return
      isClosed = true
      announceClosed()
      connection.leave(user)
    },
  }
}
