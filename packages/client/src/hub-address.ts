import { HubClientError } from "./errors.ts"

export interface HubAddress {
  /** Without a slash at its end. */
  readonly http: string
  readonly webSocket: string
  readonly token: string | undefined
}

type Now<Value> = () => Value | undefined

/**
 * A hub may come back elsewhere, or let us in by another token: what is given as functions is asked at each try, once. What can
 * never work is told at once.
 */
export function hubAddress(
  url: string | URL | Now<string | URL>,
  token: string | Now<string> | undefined,
): () => HubAddress {
  if (typeof url !== "function" && typeof token !== "function") {
    const fixed = addressOf(url, token)
    return () => fixed
  }
  if (typeof url !== "function") addressOf(url, undefined)
  return () => {
    const at = typeof url === "function" ? url() : url
    if (at === undefined) throw new HubClientError("client/unreachable", "no hub is running there; is it stopped?")
    return addressOf(at, typeof token === "function" ? token() : token)
  }
}

/** Any of http, https, ws and wss; a path in it stays in front of ours. */
function addressOf(url: string | URL, token: string | undefined): HubAddress {
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

function parseUrl(url: string | URL): URL {
  try {
    return new URL(url)
  } catch (cause) {
    throw new HubClientError("client/misconfigured", `${String(url)} is no address; write http://127.0.0.1:8765`, {
      cause,
    })
  }
}
