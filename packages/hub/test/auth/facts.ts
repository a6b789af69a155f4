import type { RequestFacts } from "../../src/auth/authority.ts"

export const LOCAL_HOST = "127.0.0.1:8765"

/** A request from this machine, unless the headers or the peer say otherwise. */
export function factsWith(headers: Readonly<Record<string, string>> = {}, peer = "127.0.0.1"): RequestFacts {
  const all: Readonly<Record<string, string>> = { host: LOCAL_HOST, ...headers }
  return { header: (name) => all[name], headerNames: () => Object.keys(all), peer }
}
