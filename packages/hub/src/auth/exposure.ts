import type { BlockList } from "node:net"
import { HubError } from "../errors.ts"
import { isLoopbackName, readHost } from "./loopback.ts"
import type { RequestFacts } from "./request-facts.ts"
import { readProxies } from "./trusted-proxies.ts"

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

/** Whether a request's `Origin` is none, the hub's own, or one that was named. */
export type OriginVerdict = { kind: "none" } | { kind: "own" } | { kind: "allowed"; origin: string }

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

/** Refuses a foreign `Host` (a rebound DNS name) and a foreign `Origin` (a page of somebody else). */
export function checkHostAndOrigin(facts: RequestFacts, exposure: Exposure): OriginVerdict {
  const host = readHost(facts.header("host"))
  if (host === undefined || !(isLoopbackName(host.hostname) || isPublicHost(facts, exposure))) {
    throw new HubError(
      "auth/host",
      "This Host is not one of the hub's: use localhost or 127.0.0.1, or start the hub with --public-url",
    )
  }
  const names = [...facts.headerNames()].map((name) => name.toLowerCase())
  const origin = facts.header("origin")
  // Two `Origin` headers read as undefined, and are not the same as none.
  if (origin === undefined && !names.includes("origin")) return { kind: "none" }
  if (origin !== undefined && isOwnOrigin(origin, host, exposure)) return { kind: "own" }
  if (origin !== undefined && exposure.allowedOrigins.has(origin)) return { kind: "allowed", origin }
  throw new HubError(
    "auth/origin",
    "Pages of this Origin may not talk to the hub: start it with --allow-origin and that Origin, if they should",
  )
}

/** Whether the request came in by the public https address, so that a cookie for it must never travel in plain text. */
export function isSecurePublic(facts: RequestFacts, exposure: Exposure): boolean {
  return exposure.publicUrl?.protocol === "https:" && isPublicHost(facts, exposure)
}

function isPublicHost(facts: RequestFacts, { publicUrl }: Exposure): boolean {
  return publicUrl !== null && readHost(facts.header("host"), publicUrl.protocol)?.host === publicUrl.host
}

function isOwnOrigin(origin: string, host: URL, { publicUrl }: Exposure): boolean {
  if (origin === publicUrl?.origin) return true
  return isLoopbackName(host.hostname) && origin === host.origin
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
