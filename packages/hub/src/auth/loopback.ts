import { BlockList, isIP } from "node:net"
import type { RequestFacts } from "./request-facts.ts"

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4")
LOOPBACK.addAddress("::1", "ipv6")

/** Whoever sends one of these, or had one added, is not known to be on this machine. */
const FORWARDING =
  /^(?:forwarded|via|cdn-loop|cf-ray|x-(?:forwarded|original|envoy)(?:-.*)?|x-real-ip|(?:.*-)?(?:client|connecting|user)-?ip)$/

export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  const family = isIP(plain)
  return family !== 0 && LOOPBACK.check(plain, family === 4 ? "ipv4" : "ipv6")
}

/** A host's name or address without its port, as URLs write it. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === "localhost" || isLoopbackAddress(hostname.replace(/^\[(.*)\]$/, "$1"))
}

/** A `Host` as URLs write it: lower case, no default port. Undefined when it is no host. */
export function readHost(host: string | undefined, scheme = "http:"): URL | undefined {
  // Only what a name, an address or a port is made of: no user, path or query can hide in it.
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return undefined
  const url = `${scheme}//${host}`
  return URL.canParse(url) ? new URL(url) : undefined
}

/** "Loopback" means a loopback peer, a loopback `Host` and no forwarding header. */
export function isLoopbackRequest(facts: RequestFacts): boolean {
  const host = readHost(facts.header("host"))
  if (host === undefined || !isLoopbackName(host.hostname) || !isLoopbackAddress(facts.peer)) return false
  return ![...facts.headerNames()].some((name) => FORWARDING.test(name.toLowerCase()))
}
