import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { AgentCore } from "../agent/core.ts"
import type { Fields } from "../profiles/profile.ts"
import { CONNECTION_CLOSED, McpLinkFailure, troubleText } from "./link.ts"

// What is told of a server and of what it said, in the version's words.

/** The hints of a tool that are kept. */
export function annotationsOf(tool: Readonly<Fields>): Fields {
  const hints = fieldOf(tool, "annotations") ?? {}
  const kept = { readOnlyHint: "readOnly", destructiveHint: "destructive", openWorldHint: "openWorld" }
  return Object.fromEntries(
    Object.entries(kept).flatMap(([hint, name]) => (hints[hint] === true ? [[name, true]] : [])),
  )
}

export function errorText({ profile }: AgentCore, error: Readonly<Fields>): string {
  const message = textOf(error, "message") ?? ""
  const isClosed = error["code"] === CONNECTION_CLOSED.error.code && message === CONNECTION_CLOSED.error.message
  return isClosed && profile.generation === 325 ? message : `MCP error ${JSON.stringify(error["code"])}: ${message}`
}

export function failureText({ profile }: AgentCore, error: unknown): string {
  if (error instanceof McpLinkFailure) return troubleText(error.trouble, profile.generation)
  return error instanceof Error ? error.message : String(error)
}
