import type { Fields } from "../profiles/profile.ts"

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

/** What the generation's own runtime says of it. */
export function troubleText(trouble: LinkTrouble, generation: 37 | 120 | 325): string {
  if (trouble.kind === "other") return trouble.message
  if (trouble.kind === "unreachable") {
    if (generation === 37) return "fetch failed"
    const code = generation === 325 ? "ECONNREFUSED: " : ""
    return `${code}Unable to connect. Is the computer able to access the url?`
  }
  if (generation === 37) return `spawn ${trouble.command} ENOENT`
  return `ENOENT: no such file or directory, posix_spawn '${generation === 325 ? "stdio" : trouble.command}'`
}

/** What a request gets whose connection is gone. */
export const CONNECTION_CLOSED = { error: { code: -32_000, message: "Connection closed" } }
