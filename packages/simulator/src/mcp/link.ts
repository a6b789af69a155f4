import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Launch } from "../launch/launch.ts"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import type { HostRequests } from "../wire/host-requests.ts"

/** The agent, as far as its MCP servers are concerned. */
export interface McpClient {
  readonly profile: WireProfile
  readonly launch: Launch
  /** Servers may live in the host, and ask it things. */
  readonly host: HostRequests
}

export interface SendOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** A way to an MCP server: through the host, to a process of our own, or to an address. */
export interface McpLink {
  /**
   * A request's answer; undefined where none came. A connection that breaks answers with an error, and one that cannot
   * be made throws an `McpLinkFailure`.
   */
  send(message: Fields, options: SendOptions): Promise<Readonly<Fields> | undefined>
  readonly isOpen: boolean
  /** Resolves when it is over, at the latest after a moment. */
  close(): Promise<void>
}

/** Why a server was not reached. Each generation has its own words for it. */
export type LinkTrouble =
  | { readonly kind: "no-such-command"; readonly command: string }
  | { readonly kind: "unreachable" }
  | { readonly kind: "other"; readonly message: string }

export class McpLinkFailure extends Error {
  readonly trouble: LinkTrouble

  constructor(trouble: LinkTrouble, options?: ErrorOptions) {
    super(trouble.kind === "other" ? trouble.message : trouble.kind, options)
    this.name = "McpLinkFailure"
    this.trouble = trouble
  }
}

/** What a request gets whose connection is gone. */
export const CONNECTION_CLOSED = { error: { code: -32_000, message: "Connection closed" } }

/** A server that lives in the host: every message to it is a control request. */
export function hostLink({ host }: McpClient, name: string): McpLink {
  return {
    isOpen: true,
    async send(message, options) {
      const answer = await host.ask({ subtype: "mcp_message", server_name: name, message }, options)
      return answer.kind === "success" ? fieldOf(answer.payload, "mcp_response") : undefined
    },
    close: () => Promise.resolve(),
  }
}

// What is told of a server and of what it said, in the version's words.

/** The hints of a tool that are kept. */
export function annotationsOf(tool: Readonly<Fields>): Fields {
  const hints = fieldOf(tool, "annotations") ?? {}
  const kept = { readOnlyHint: "readOnly", destructiveHint: "destructive", openWorldHint: "openWorld" }
  return Object.fromEntries(
    Object.entries(kept).flatMap(([hint, name]) => (hints[hint] === true ? [[name, true]] : [])),
  )
}

export function errorText({ profile }: McpClient, error: Readonly<Fields>): string {
  const message = textOf(error, "message") ?? ""
  const isClosed = error["code"] === CONNECTION_CLOSED.error.code && message === CONNECTION_CLOSED.error.message
  return isClosed && profile.quirks.tellsClosedPlainly
    ? message
    : `MCP error ${JSON.stringify(error["code"])}: ${message}`
}

/** Why a server was not reached, as the version's own runtime says it. */
export function failureText({ profile }: McpClient, error: unknown): string {
  if (!(error instanceof McpLinkFailure)) return error instanceof Error ? error.message : String(error)
  const { trouble } = error
  if (trouble.kind === "other") return trouble.message
  const { unreachable, noSuchCommand } = profile.quirks
  return trouble.kind === "unreachable" ? unreachable : noSuchCommand(trouble.command)
}
