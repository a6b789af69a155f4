import { connect } from "node:net"
import { DEFAULT_PORTS } from "@signalbox/hub/ports"

/** `relay`: something takes a frontend's WebSocket at `/ws`, and is no hub of ours. */
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
 * A hub of ours says so at `/healthz`. A relay is whatever takes a frontend's upgrade at `/ws`, as the frontends of plain relays
 * look for theirs; the connection is closed again before anything is said.
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

/** Without a token the interface is refused, with a code that nobody else has. */
async function homeOf(port: number): Promise<string | undefined> {
  return exchange(port, request("/api/me", port, ["Connection: close"]))
}

function isOurs(reply: string | undefined): boolean {
  return reply !== undefined && reply.includes('"auth/required"')
}

function request(path: string, port: number, headers: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${HOST}:${port}`, ...headers, "", ""].join("\r\n")
}

/** What comes back; undefined when nobody is there or nothing comes in time. Small and bounded, whoever is at the port. */
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
