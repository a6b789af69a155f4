import { connect } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { DEFAULT_PORTS } from "@signalbox/hub/ports"

/** `relay`: accepts a frontend's WebSocket at `/ws`, but is no hub of ours. */
export interface Found {
  readonly kind: "hub" | "relay"
  readonly url: string
  readonly port: number
}

const HOST = "127.0.0.1"
const CONNECT_MS = 1_000
const REPLY_MS = 3_000
const MAX_REPLY_CHARS = 16_384

/** Finds the hubs and relays at these ports, all at once. A known one is only asked whether it is still there. */
export async function probePorts(
  ports: readonly number[] = DEFAULT_PORTS,
  known: ReadonlyMap<number, Found> = new Map(),
): Promise<Found[]> {
  const found = await Promise.all(ports.map((port) => probePort(port, known.get(port))))
  return found.flatMap((each) => each ?? [])
}

/**
 * A hub answers at `/healthz`. A relay accepts a frontend's upgrade at `/ws`, as the frontends of plain relays look for theirs; the
 * connection is closed before anything is sent.
 */
async function probePort(port: number, known: Found | undefined): Promise<Found | undefined> {
  const url = `http://${HOST}:${port}`
  const health = await exchange(port, request("/healthz", port, ["Connection: close"]))
  if (health === undefined) return undefined
  const isHealthy = health.startsWith("HTTP/1.1 200") && /"status"\s*:\s*"ok"/.test(health)
  if (known !== undefined && isHealthy === (known.kind === "hub")) return known
  if (isHealthy && isOurs(await homeOf(port))) return { kind: "hub", url, port }
  const upgrade = await exchange(port, request("/ws", port, UPGRADE))
  return upgrade !== undefined && upgrade.startsWith("HTTP/1.1 101") ? { kind: "relay", url, port } : undefined
}

const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  // Any sixteen bytes: nothing is ever said on this connection.
  `Sec-WebSocket-Key: ${Buffer.from("signalbox-probes").toString("base64")}`,
]

/** Without a token the API refuses, with a code that nobody else has. */
async function homeOf(port: number): Promise<string | undefined> {
  return exchange(port, request("/api/me", port, ["Connection: close"]))
}

function isOurs(reply: string | undefined): boolean {
  return reply !== undefined && reply.includes('"auth/required"')
}

function request(path: string, port: number, headers: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${HOST}:${port}`, ...headers, "", ""].join("\r\n")
}

/** The reply; undefined if nobody answers in time. Bounded, whoever listens at the port. */
function exchange(port: number, text: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port })
    let reply = ""
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(reply === "" ? undefined : reply)
    }
    let timer = setTimeout(finish, CONNECT_MS)
    socket.once("connect", () => {
      clearTimeout(timer)
      timer = setTimeout(finish, REPLY_MS)
      socket.write(text)
    })
    socket.on("data", (chunk: Buffer) => {
      reply += chunk.toString("latin1")
      if (reply.length > MAX_REPLY_CHARS || /^HTTP\/1\.1 101[^]*\r\n\r\n/.test(reply)) finish()
    })
    socket.on("close", finish)
    socket.on("error", finish)
  })
}

/** `up`: it answers now. `down`: it no longer does. */
export interface Change extends Found {
  readonly event: "up" | "down"
}

const INTERVAL_MS = 1_000
/** A busy one may miss a probe: it is gone after missing two. */
const MISSES = 2

/** Yields each hub and relay at these ports, then each that comes or goes, until the signal aborts. */
export async function* watchPorts(signal: AbortSignal, ports?: readonly number[]): AsyncGenerator<Change> {
  const known = new Map<number, Found>()
  const missed = new Map<number, number>()
  while (!signal.aborted) {
    const found = new Map((await probePorts(ports, known)).map((each) => [each.port, each]))
    for (const [port, before] of known) {
      const now = found.get(port)
      const misses = now === undefined ? (missed.get(port) ?? 0) + 1 : 0
      missed.set(port, misses)
      if (now?.kind === before.kind || (now === undefined && misses < MISSES)) continue
      known.delete(port)
      missed.delete(port)
      yield { event: "down", ...before }
    }
    for (const [port, each] of found) {
      if (known.has(port)) continue
      known.set(port, each)
      yield { event: "up", ...each }
    }
    await pause(INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}
