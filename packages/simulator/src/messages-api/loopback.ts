import { SimulatorError } from "../simulator-error.ts"

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/

export function requireLoopbackHost(host: string): string {
  if (LOOPBACK.test(host)) return host
  throw new SimulatorError("messages-api/not-loopback", `"${host}" is not a loopback address; use 127.0.0.1 or ::1.`)
}

export function requireLoopbackUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol === "http:" && LOOPBACK.test(parsed.hostname)) return url
  throw new SimulatorError("messages-api/not-loopback", `"${url}" is not an http URL on loopback.`)
}
