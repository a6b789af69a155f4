import type { JsonRpcMessage } from "@signalbox/protocol"

export type RpcId = string | number

/** What of a message matters for where it goes. */
export type RpcKind =
  | { readonly kind: "request"; readonly id: RpcId }
  | { readonly kind: "response"; readonly id: RpcId }
  | { readonly kind: "notification" }

/** Codes of JSON-RPC, and of the Model Context Protocol's own library for a connection that is gone. */
export const INTERNAL_ERROR = -32603
export const CONNECTION_CLOSED = -32000

export function kindOf(message: JsonRpcMessage): RpcKind {
  const { id } = message
  if (typeof id !== "string" && typeof id !== "number") return { kind: "notification" }
  return typeof message["method"] === "string" ? { kind: "request", id } : { kind: "response", id }
}

export function errorResponse(id: RpcId, code: number, message: string): JsonRpcMessage {
  return { jsonrpc: "2.0", id, error: { code, message } }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function paramsOf(message: JsonRpcMessage): Readonly<Record<string, unknown>> {
  const params = message["params"]
  return isRecord(params) ? params : {}
}

/** The token by which a request asks to be told of its progress. */
export function progressTokenOf(message: JsonRpcMessage): RpcId | undefined {
  const meta = paramsOf(message)["_meta"]
  const token = isRecord(meta) ? meta["progressToken"] : undefined
  return typeof token === "string" || typeof token === "number" ? token : undefined
}

export function withParams(message: JsonRpcMessage, changed: Readonly<Record<string, unknown>>): JsonRpcMessage {
  return { ...message, params: { ...paramsOf(message), ...changed } }
}

export function withProgressToken(message: JsonRpcMessage, progressToken: RpcId): JsonRpcMessage {
  const meta = paramsOf(message)["_meta"]
  return withParams(message, { _meta: { ...(isRecord(meta) ? meta : {}), progressToken } })
}
