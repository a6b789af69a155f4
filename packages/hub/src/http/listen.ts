import type { Server } from "node:http"
import { HubError } from "../errors.ts"

const FIRST = 8765
const LAST = 8864

/** A hub that is given no port takes the first of these that is free. */
export const DEFAULT_PORTS: readonly number[] = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index)

export interface ListenOptions {
  readonly host: string
  /** A number that was asked for (0: any free one); left out, the default port or the next free one after it. */
  readonly port?: number
}

export interface ListeningAddress {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Whether the default port was taken, so that it can be said. */
  readonly moved: boolean
}

export async function listen(server: Server, { host, port }: ListenOptions): Promise<ListeningAddress> {
  const candidates = port === undefined ? DEFAULT_PORTS : [port]
  for (const candidate of candidates) {
    const bound = await tryPort(server, host, candidate)
    if (bound !== "taken")
      return { host, port: bound, url: urlOf(host, bound), moved: port === undefined && bound !== DEFAULT_PORTS[0] }
  }
  throw new HubError(
    "start/port-taken",
    port === undefined
      ? `All ports from ${DEFAULT_PORTS[0]} to ${DEFAULT_PORTS.at(-1)} are taken: free one, or choose another with --port`
      : `Port ${port} is taken: choose another with --port, or leave it out and a free one is found`,
  )
}

function tryPort(server: Server, host: string, port: number): Promise<number | "taken"> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      server.off("listening", onListening)
      if (error.code === "EADDRINUSE") return resolve("taken")
      reject(cannotListen(host, port, error))
    }
    const onListening = () => {
      server.off("error", onError)
      const address = server.address()
      // A server that listens on a host and a port has an address of that kind.
      resolve(typeof address === "object" && address !== null ? address.port : port)
    }
    server.once("error", onError)
    server.once("listening", onListening)
    server.listen({ host: host.replace(/^\[(.*)\]$/, "$1"), port, exclusive: true })
  })
}

function cannotListen(host: string, port: number, cause: NodeJS.ErrnoException): HubError {
  const why =
    cause.code === "EACCES"
      ? `this user may not listen on port ${port}: choose one above 1023 with --port`
      : cause.code === "EADDRNOTAVAIL" || cause.code === "ENOTFOUND"
        ? "this machine has no such address: choose another with --host"
        : cause.message
  return new HubError("start/invalid-option", `Cannot listen on ${host}: ${why}`, { cause })
}

function urlOf(host: string, port: number): string {
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host
  return `http://${name}:${port}`
}
