import { type Clock, systemClock } from "../clock.ts"
import { DEFAULT_CLOSE_TIMEOUT_MS, DEFAULT_MAX_PAYLOAD_BYTES } from "../default-limits.ts"
import { TransportError } from "../errors.ts"
import { quietly } from "../quiet-callback.ts"
import { type LineLimits, settleLineLimits } from "../transport.ts"
import type { DialState } from "./dial-state.ts"
import type { RingLimits } from "./message-ring.ts"
import { type OutgoingLimits, type OutgoingSettings, settleOutgoingLimits } from "./outgoing-lines.ts"
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

export interface DialSettings extends Required<LineLimits>, OutgoingSettings {
  readonly url: URL
  readonly preset: DialPreset
  readonly maxPayloadBytes: number
  readonly closeTimeoutMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly onState: (state: DialState) => void
}

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
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new TransportError("transport/misconfigured", `not a URL: ${String(text)}`, { cause })
  }
  if (url.protocol !== "ws:" && url.protocol !== "wss:") {
    throw new TransportError(
      "transport/misconfigured",
      `Unsupported protocol: ${url.protocol} (ws: or wss: is needed)`,
      {
        details: { protocol: url.protocol },
      },
    )
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
