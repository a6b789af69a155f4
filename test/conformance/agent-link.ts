import { createServer, type Server } from "node:http"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import {
  type AcceptedConnection,
  type ChildTransport,
  type ClaudeFlags,
  type Closed,
  claudeArguments,
  createHybridReceiver,
  createWebSocketAcceptor,
  type HybridConnection,
  type HybridReceiver,
  openChildProcess,
} from "@signalbox/transport"
import { ensureClaude } from "../../scripts/claude-cli.mjs"
import { root } from "../../scripts/setup.mjs"
import { quietPort } from "../quiet-port.ts"
import type { Cell } from "./cells.ts"

/** A real CLI and the road to it. A CLI that dials may come back: `lines` goes on over all its connections. */
export interface AgentLink {
  readonly child: ChildTransport
  readonly lines: AsyncIterable<string>
  send(line: string): Promise<void>
  /** Cuts the connection without a word, and refuses new ones until `listenAgain`. */
  goAway(): Promise<void>
  listenAgain(): Promise<void>
  /** The headers of each upgrade so far. */
  readonly upgrades: readonly Readonly<Record<string, string | string[] | undefined>>[]
  /** No more input; resolves when the process is gone. */
  end(): Promise<Closed>
  dispose(): Promise<void>
}

export interface LinkOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly flags: ClaudeFlags
  /** Exactly these arguments instead of the flags; `SDK_URL` stands for the address to dial. */
  readonly argv?: readonly string[]
}

export const SDK_URL = "{sdk-url}"

export const SESSION_TOKEN = "conformance-token"

export async function openLink(cell: Cell, options: LinkOptions): Promise<AgentLink> {
  return cell.road === "stdio" ? openStdio(cell, options) : openDialled(cell, options)
}

async function executableOf(cell: Cell): Promise<{ command: string; args: string[]; env?: Record<string, string> }> {
  if (cell.isSimulated !== true) return ensureClaude(cell.version)
  const env = {
    SIGNALBOX_SIM_PROFILE: cell.version,
    SIGNALBOX_SIM_TOOLS: "real",
    // The case's own scripted Messages API speaks for the model, so that what it was asked can be looked at.
    SIGNALBOX_SIM_MODEL_URL: "env",
  }
  return { command: process.execPath, args: [join(root, "packages/simulator/bin/claude-sim.mjs")], env }
}

async function startChild(cell: Cell, { cwd, env, flags, argv }: LinkOptions): Promise<ChildTransport> {
  const claude = await executableOf(cell)
  const own = argv?.map((word) => (word === SDK_URL ? (flags.sdkUrl ?? word) : word)) ?? claudeArguments(flags)
  return openChildProcess({
    command: claude.command,
    args: [...claude.args, ...own],
    cwd,
    env: { ...env, ...claude.env },
    killAfterMs: 2000,
  })
}

async function openStdio(cell: Cell, options: LinkOptions): Promise<AgentLink> {
  const child = await startChild(cell, options)
  const onlyDialled = () => Promise.reject(new Error("there is no connection to cut on stdio"))
  return {
    child,
    lines: child.lines,
    send: (line) => child.send(line),
    goAway: onlyDialled,
    listenAgain: onlyDialled,
    upgrades: [],
    async end() {
      child.endInput()
      return child.closed
    },
    dispose: () => child.close("test over"),
  }
}

/** A host that a CLI dials, on one port through all its comings and goings. */
class DialledHost {
  readonly upgrades: Record<string, string | string[] | undefined>[] = []
  #server: Server | undefined
  #current: HybridConnection | undefined
  #port = 0
  readonly #arrivals: HybridConnection[] = []
  #wake: () => void = () => undefined
  #over = false
  readonly #sockets: Duplex[] = []

  async listen(): Promise<number> {
    const acceptor = createWebSocketAcceptor({})
    // A busy machine may starve the CLI between the reply to its POST and our answer, and 2.1.37 loses what overtakes it.
    const receiver = createHybridReceiver({ answerGraceMs: 500 })
    const server = createServer((request, response) => void receiver.receiveEvents(request, response))
    server.on("upgrade", (request, socket, head) => {
      this.upgrades.push(request.headers)
      this.#sockets.push(socket)
      void this.#accept(acceptor.handleUpgrade(request, socket, head), receiver)
    })
    if (this.#port === 0) this.#port = await quietPort()
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve))
    this.#server = server
    return this.#port
  }

  async goAway(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    for (const socket of this.#sockets.splice(0)) socket.destroy()
    this.#current = undefined
    await closed
  }

  async current(): Promise<HybridConnection> {
    while (this.#current === undefined) {
      if (this.#over) throw new Error("the agent is gone")
      await this.#change()
    }
    return this.#current
  }

  async *lines(): AsyncGenerator<string> {
    while (!this.#over) {
      const next = this.#arrivals.shift()
      if (next === undefined) await this.#change()
      else yield* next.lines
    }
  }

  finish(): void {
    this.#over = true
    for (const socket of this.#sockets.splice(0)) socket.destroy()
    this.#wake()
  }

  async #accept(upgrade: Promise<AcceptedConnection | undefined>, receiver: HybridReceiver): Promise<void> {
    const accepted = await upgrade
    if (accepted === undefined) return
    this.#current = receiver.attach(accepted)
    this.#arrivals.push(this.#current)
    this.#wake()
  }

  #change(): Promise<void> {
    const before = this.#wake
    return new Promise((resolve) => {
      this.#wake = () => {
        before()
        resolve()
      }
    })
  }
}

async function openDialled(cell: Cell, options: LinkOptions): Promise<AgentLink> {
  const host = new DialledHost()
  const port = await host.listen()
  const sdkUrl = `ws://127.0.0.1:${port}/v1/ws/conformance`
  const hybrid = cell.road === "hybrid" ? { CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "1" } : {}
  const env = { CLAUDE_CODE_SESSION_ACCESS_TOKEN: SESSION_TOKEN, ...hybrid, ...options.env }
  const child = await startChild(cell, { ...options, env, flags: { ...options.flags, sdkUrl } })
  void child.closed.then(() => host.finish())
  return {
    child,
    lines: host.lines(),
    send: async (line) => (await host.current()).send(line),
    goAway: () => host.goAway(),
    listenAgain: async () => void (await host.listen()),
    upgrades: host.upgrades,
    async end() {
      // 4001 tells 2.1.120 not to come back; 2.1.37 does come back and must find nobody, then it ends by itself.
      await (await host.current()).closeWith(4001, "the session is over")
      await host.goAway()
      return child.closed
    },
    async dispose() {
      host.finish()
      await child.close("test over")
      await host.goAway()
    },
  }
}
