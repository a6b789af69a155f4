import { readFileSync } from "node:fs"
import { errorText, quietly, TransportError } from "../errors.ts"
import { type Clock, systemClock } from "../pacing.ts"
import type { Environment } from "../process/environment.ts"
import { DEFAULT_CLOSE_TIMEOUT_MS, DEFAULT_MAX_PAYLOAD_BYTES, type LineLimits, settleLineLimits } from "../transport.ts"
import type { DialState } from "./dial-state.ts"
import { type OutgoingLimits, type OutgoingSettings, type RingLimits, settleOutgoingLimits } from "./outgoing-lines.ts"
import { type DialPreset, type DialPresetName, presetOf } from "./presets.ts"

export interface DialOptions extends LineLimits, OutgoingLimits {
  /** `ws:` or `wss:`. */
  readonly url: string | URL
  /** By default `patient`. A policy of one's own is a preset with parts replaced. */
  readonly preset?: DialPresetName | DialPreset
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as `Authorization: Bearer …`. A function is asked before every dial. */
  readonly token?: string | (() => string | undefined)
  readonly environmentRunnerVersion?: string
  readonly ring?: RingLimits
  readonly maxPayloadBytes?: number
  readonly closeTimeoutMs?: number
  /** Told of every change of state, after it. */
  readonly onState?: (state: DialState) => void
  readonly clock?: Clock
  /** From 0 up to, not including, 1. */
  readonly random?: () => number
}

type Settled = "maxPayloadBytes" | "closeTimeoutMs" | "clock" | "random" | "onState"
export type DialSettings = Required<Pick<DialOptions, keyof LineLimits | Settled>> &
  OutgoingSettings & { readonly url: URL; readonly preset: DialPreset }

export function settleDialOptions(options: DialOptions): DialSettings {
  return {
    ...settleLineLimits(options),
    ...settleOutgoingLimits(options),
    url: readSdkUrl(options.url),
    preset: presetOf(options.preset),
    maxPayloadBytes: options.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES,
    closeTimeoutMs: options.closeTimeoutMs ?? DEFAULT_CLOSE_TIMEOUT_MS,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    onState: quietly(options.onState),
  }
}

/** Throws at once for what is no WebSocket URL; dialling it again and again would never help. */
function readSdkUrl(text: string | URL): URL {
  if (!URL.canParse(String(text))) throw new TransportError("transport/misconfigured", `not a URL: ${String(text)}`)
  const url = new URL(text)
  const { protocol } = url
  if (protocol !== "ws:" && protocol !== "wss:") {
    const message = `Unsupported protocol: ${protocol} (ws: or wss: is needed)`
    throw new TransportError("transport/misconfigured", message, { details: { protocol } })
  }
  // `ws` refuses a URL with a fragment, which no server would see anyway.
  url.hash = ""
  return url
}

export function dialHeaders(options: DialOptions, lastUuid: string | undefined): Record<string, string> {
  const token = readToken(options.token)
  return {
    ...options.headers,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(options.environmentRunnerVersion === undefined
      ? {}
      : { "x-environment-runner-version": options.environmentRunnerVersion }),
    ...(lastUuid === undefined ? {} : { "X-Last-Request-Id": lastUuid }),
  }
}

export function readToken(token: DialOptions["token"]): string | undefined {
  return typeof token === "function" ? token() : token
}

/** The settings that a CLI on `--sdk-url` takes from its environment. */
export interface DialEnvironment {
  readonly token: string | undefined
  /** `CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION` */
  readonly environmentRunnerVersion: string | undefined
  /** `CLAUDE_CODE_REMOTE`: a remote session sends no `keep_alive` lines. */
  readonly remote: boolean
  /** `CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2`: receive by WebSocket, send by POST. */
  readonly postsEvents: boolean
}

/** Throws transport/misconfigured when a file descriptor is named for the token and cannot be read. */
export function readDialEnvironment(env: Environment): DialEnvironment {
  return {
    token: readSessionToken(env),
    environmentRunnerVersion: nonEmpty(env["CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION"]),
    remote: isTruthy(env["CLAUDE_CODE_REMOTE"]),
    postsEvents: isTruthy(env["CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2"]),
  }
}

/** The token itself, else what the named file descriptor holds, else none. */
export function readSessionToken(env: Environment): string | undefined {
  const token = nonEmpty(env["CLAUDE_CODE_SESSION_ACCESS_TOKEN"])
  if (token !== undefined) return token
  const descriptor = nonEmpty(env["CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR"])
  return descriptor === undefined ? undefined : readTokenFrom(descriptor)
}

function readTokenFrom(descriptor: string): string {
  if (!/^\d{1,9}$/.test(descriptor)) throw unreadable(descriptor, "it is not a number")
  let text: string
  try {
    text = readDescriptor(Number(descriptor))
  } catch (cause) {
    throw unreadable(descriptor, errorText(cause), cause)
  }
  const token = text.trim()
  if (token === "") throw unreadable(descriptor, "it is empty")
  return token
}

/** By its name first: opening it anew reads a file from its start even when somebody has read it before. */
function readDescriptor(descriptor: number): string {
  try {
    return readFileSync(`/dev/fd/${descriptor}`, "utf8")
  } catch {
    return readFileSync(descriptor, "utf8")
  }
}

function unreadable(descriptor: string, why: string, cause?: unknown): TransportError {
  const text = `cannot read the token from file descriptor ${descriptor} (CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR): ${why}`
  return new TransportError("transport/misconfigured", text, cause === undefined ? {} : { cause })
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value
}

/** The words the real CLIs take for yes; with any other, `2` and `maybe` too, they stay as they are. */
function isTruthy(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes(value?.trim().toLowerCase() ?? "")
}
