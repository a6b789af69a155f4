import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createLineSplitter } from "@signalbox/protocol/framing"
import { parseJson } from "../json.ts"
import type { Fields, NamedServer, StdioServer } from "../profiles/profile.ts"
import { openHttpLink, openSseLink } from "./http-link.ts"
import { type McpClient, type McpLink, McpLinkFailure, type SendOptions } from "./link.ts"
import { RpcPeer, type ServeMcp, serveFor } from "./rpc-peer.ts"

/** Starts or dials a server. Throws an `McpLinkFailure`. */
export async function openLink(client: McpClient, { name, config }: NamedServer, timeoutMs: number): Promise<McpLink> {
  const { launch, profile } = client
  const serve = serveFor(client, name)
  if (config.type === "stdio") {
    const env = { ...launch.env, CLAUDE_CODE_ENTRYPOINT: launch.env["CLAUDE_CODE_ENTRYPOINT"] ?? "sdk-cli" }
    return openStdioLink(config, { cwd: launch.cwd, env, serve })
  }
  if (!URL.canParse(config.url)) {
    throw new McpLinkFailure({ kind: "other", message: `"${config.url}" cannot be parsed as a URL.` })
  }
  const userAgent = `claude-code/${profile.version}${profile.quirks.mcpUserAgent}`
  return config.type === "http"
    ? openHttpLink(config, { userAgent, serve })
    : openSseLink(config, { userAgent, serve, timeoutMs })
}

/** How long a server may take to go when it is told to. */
const GOODBYE_MS = 400

interface StdioLinkOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly serve: ServeMcp
}

/** Starts a server and speaks with it over its own stdin and stdout. */
async function openStdioLink(server: StdioServer, { cwd, env, serve }: StdioLinkOptions): Promise<McpLink> {
  const child = spawn(server.command, [...(server.args ?? [])], {
    cwd,
    env: { ...env, ...server.env },
    // What it says on stderr a CLI keeps in its debug log.
    stdio: ["pipe", "pipe", "ignore"],
  })
  await spawned(child, server.command)
  const peer = new RpcPeer((message) => child.stdin.write(`${JSON.stringify(message)}\n`), serve)
  // A server that is gone does not read; that it is gone is told by its end.
  child.stdin.on("error", () => undefined)
  readLines(child, peer)
  child.once("exit", () => peer.close())
  child.stdout.once("close", () => peer.close())
  return {
    send: (message: Fields, options: SendOptions) => peer.send(message, options),
    get isOpen() {
      return !peer.isClosed
    },
    async close() {
      peer.close()
      await end(child)
    },
  }
}

function readLines(child: ChildProcess, peer: RpcPeer): void {
  const splitter = createLineSplitter()
  child.stdout?.on("data", (chunk: Buffer) => {
    // A server that writes what is no JSON has lost its way, and is not the reason to end.
    for (const line of splitter.push(chunk)) peer.take(parseJson(line))
  })
}

async function spawned(child: ChildProcess, command: string): Promise<void> {
  try {
    await once(child, "spawn")
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT"
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new McpLinkFailure(isMissing ? { kind: "no-such-command", command } : { kind: "other", message }, { cause })
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.stdin?.end()
  child.kill("SIGINT")
  const impatience = setTimeout(() => child.kill("SIGKILL"), GOODBYE_MS)
  await gone
  clearTimeout(impatience)
}
