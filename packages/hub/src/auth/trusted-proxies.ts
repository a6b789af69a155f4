import { BlockList, isIP } from "node:net"
import { HubError } from "../errors.ts"
import type { RequestFacts } from "./request-facts.ts"

/** The proxies whose word is taken for whom they speak: addresses, or networks such as 10.0.0.0/8. */
export function readProxies(named: readonly string[]): BlockList {
  const proxies = new BlockList()
  for (const text of named) addTo(proxies, text)
  return proxies
}

/**
 * The address that a request came from. Each proxy appends the address of its peer, so the last one that no trusted proxy
 * has counts; anybody could have written those before it.
 */
export function clientAddress(facts: RequestFacts, proxies: BlockList): string | undefined {
  let address = facts.peer
  const forwarded = (facts.header("x-forwarded-for") ?? "").split(",").map((text) => bare(text.trim()))
  while (forwarded.length > 0 && isAmong(proxies, address)) {
    const before = forwarded.pop() ?? ""
    if (isIP(before) === 0) return address
    address = before
  }
  return address
}

function isAmong(proxies: BlockList, address: string | undefined): boolean {
  const plain = (address ?? "").replace(/^::ffff:(?=\d+\.)/i, "")
  const family = isIP(plain)
  return family !== 0 && proxies.check(plain, family === 4 ? "ipv4" : "ipv6")
}

/** Without the port that some proxies add. */
function bare(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.replace(/:\d+$/, "") : text)
}

function addTo(proxies: BlockList, text: string): void {
  const [address = "", prefix, ...more] = text.split("/")
  const family = isIP(address)
  const bits = prefix === undefined ? (family === 4 ? 32 : 128) : Number(prefix)
  const isPlain = prefix === undefined || /^\d{1,3}$/.test(prefix)
  if (family === 0 || more.length > 0 || !isPlain || bits > (family === 4 ? 32 : 128)) {
    const message = `--trusted-proxy ${text}: give the proxy's address, or its network, as in 127.0.0.1 or 10.0.0.0/8`
    throw new HubError("start/invalid-option", message)
  }
  proxies.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6")
}
