import { BlockList, isIP } from "node:net"
import { HubError } from "../errors.ts"
import { isLoopbackName } from "./authority.ts"

/** To whom the hub shows itself. */
export interface Exposure {
  readonly publicUrl: URL | null
  readonly allowedOrigins: ReadonlySet<string>
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: BlockList
}

export interface ExposureOptions {
  readonly publicUrl?: string | undefined
  readonly allowOrigins?: readonly string[] | undefined
  readonly trustedProxies?: readonly string[] | undefined
}

export function settleExposure(options: ExposureOptions): Exposure {
  const { publicUrl, allowOrigins = [], trustedProxies = [] } = options
  return {
    publicUrl: publicUrl === undefined ? null : readPlainUrl(publicUrl, "--public-url"),
    allowedOrigins: new Set(allowOrigins.map((origin) => readPlainUrl(origin, "--allow-origin").origin)),
    trustedProxies: readProxies(trustedProxies),
  }
}

/** Tokens would travel in plain text: that must be somebody's decision, not an accident. */
export function checkBinding(options: { host: string; exposure: Exposure; plaintextUnderstood: boolean }): void {
  const { host, exposure, plaintextUnderstood } = options
  const name = host.includes(":") ? `[${host.replace(/^\[|\]$/g, "")}]` : host
  if (plaintextUnderstood || isLoopbackName(name.toLowerCase())) return
  if (exposure.publicUrl?.protocol === "https:") return
  throw new HubError(
    "start/exposed",
    `Listening on ${host} would send tokens and transcripts over the network in plain text. Put a TLS proxy in front and name it with --public-url https://…, listen on 127.0.0.1, or add --i-understand-plaintext`,
  )
}

function readPlainUrl(text: string, option: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.origin}/` === url.href &&
    url.username === "" &&
    !text.includes("*")
  if (url === undefined || !plain) {
    const example = option === "--public-url" ? "https://hub.example.org" : "http://localhost:5173"
    throw new HubError("start/invalid-option", `${option} ${text}: give scheme, host and port only, as in ${example}`)
  }
  return url
}

/** The proxies whose word is taken for whom they speak: addresses, or networks such as 10.0.0.0/8. */
function readProxies(named: readonly string[]): BlockList {
  const proxies = new BlockList()
  for (const text of named) addTo(proxies, text)
  return proxies
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
