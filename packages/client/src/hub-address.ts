import { AddressTurn, listedAddresses } from "@signalbox/protocol/hub-addresses"
import { HubClientError } from "./errors.ts"

export interface HubAddress {
  /** Without a slash at its end. */
  readonly http: string
  readonly webSocket: string
  readonly token: string | undefined
}

/** One address, or those of hubs on the same store: a list, or in one text with commas between them. */
export type HubUrl = string | URL | readonly (string | URL)[]

type Now<Value> = () => Value | undefined

/**
 * Which address of a hub is used now, for everything that one client does. A hub may come back elsewhere, or let us in by another
 * token: what is given as functions is asked at each try, once. What can never work is told at once.
 */
export class HubAddresses {
  readonly #turn = new AddressTurn()
  readonly #url: Now<HubUrl>
  readonly #token: Now<string>
  readonly #isFixed: boolean
  /** As they were at the last try. */
  #listed: readonly HubAddress[] = []

  constructor(url: HubUrl | Now<HubUrl>, token: string | Now<string> | undefined) {
    this.#url = typeof url === "function" ? url : () => url
    this.#token = typeof token === "function" ? token : () => token
    this.#isFixed = typeof url !== "function" && typeof token !== "function"
    if (typeof url !== "function") this.#listed = this.#parse(typeof token === "function" ? undefined : token)
  }

  now(): HubAddress {
    if (!this.#isFixed) this.#listed = this.#parse(this.#token())
    const address = this.#turn.now(this.#listed)
    if (address !== undefined) return address
    throw new HubClientError("client/unreachable", "no hub is running there; is it stopped?")
  }

  /** It does not answer, or says that another one should be asked. Returns the one that is used from now on. */
  failed(http: string): string | undefined {
    const listed = this.#listed.map((address) => address.http)
    this.#turn.failed(http, listed)
    return this.#turn.now(listed)
  }

  get count(): number {
    return Math.max(1, this.#listed.length)
  }

  #parse(token: string | undefined): readonly HubAddress[] {
    const url = this.#url()
    if (url === undefined) return []
    const texts = typeof url === "string" || url instanceof URL ? [url] : url
    const listed = listedAddresses(texts.map(String))
    return listed.map((text) => addressOf(text, token))
  }
}

/** Any of http, https, ws and wss; a path in it stays in front of ours. */
function addressOf(url: string, token: string | undefined): HubAddress {
  const parsed = parseUrl(url)
  const isSecure = parsed.protocol === "https:" || parsed.protocol === "wss:"
  if (!isSecure && parsed.protocol !== "http:" && parsed.protocol !== "ws:") {
    throw new HubClientError(
      "client/misconfigured",
      `a hub's address begins with http or https, not ${parsed.protocol}`,
    )
  }
  if (parsed.username !== "" || parsed.search !== "" || parsed.hash !== "") {
    throw new HubClientError(
      "client/misconfigured",
      "a hub's address has no name, query or fragment; give the token as `token`",
    )
  }
  // A header cannot hold more than this, and an error about it deep in a socket would be hard to read.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new HubClientError("client/misconfigured", "the token is empty or has characters that no token has")
  }
  const rest = `${parsed.host}${parsed.pathname.replace(/\/+$/, "")}`
  return { http: `http${isSecure ? "s" : ""}://${rest}`, webSocket: `ws${isSecure ? "s" : ""}://${rest}`, token }
}

function parseUrl(url: string): URL {
  try {
    return new URL(url)
  } catch (cause) {
    const said = url === "" ? "an empty text" : url
    throw new HubClientError("client/misconfigured", `${said} is no address; write http://127.0.0.1:8765`, { cause })
  }
}
