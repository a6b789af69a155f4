import { TransportError } from "../errors.ts"
import { NOT_ALLOWED } from "./close-codes.ts"
import { type PostPolicy, postPolicies, type ReconnectPolicy } from "./retry-policies.ts"

/** The lines that are sent again from the ring when a connection opens. */
export type ReplayMode =
  | "none"
  | "whole-ring"
  /** The lines after the message that the server names in its upgrade reply; all of them when it names none we know. */
  | "after-last-request-id"

export interface DialPreset {
  /** "never": the end of the first connection is the end. */
  readonly reconnect: ReconnectPolicy | "never"
  readonly replay: ReplayMode
  /** A line sent without a connection: "drop" loses it, unless it is replayed from the ring; "keep" holds it in order. */
  readonly offline: "drop" | "keep"
  /** HTTP errors in answer to the upgrade. "permanent-4xx": those that say it is our fault, but not 408, 425 and 429. */
  readonly httpErrors: "retry" | "permanent" | "permanent-4xx"
  /** Close codes after which there is no coming back. */
  readonly permanentCloseCodes: readonly number[]
  /** 0 means no pings. */
  readonly pingMs: number
  readonly suspendGapMs?: number
  /** 0 means no `keep_alive` lines. */
  readonly keepAliveMs: number
  readonly connectTimeoutMs: number
  /** How events are posted, where they are (hybrid). */
  readonly post: PostPolicy
}

const PERMANENT_CLOSE_CODES = [1002, NOT_ALLOWED, 4003]
const PING_MS = 10_000
const CONNECT_TIMEOUT_MS = 30_000

/** CLI 2.1.37: loses what it writes while disconnected, and gives up on a dead server after about five seconds. */
const cli2137: DialPreset = {
  reconnect: { baseDelayMs: 1000, maxDelayMs: 30_000, jitter: 0, maxFailures: 3, countsPerFailedDial: 2 },
  replay: "none",
  offline: "drop",
  httpErrors: "retry",
  permanentCloseCodes: PERMANENT_CLOSE_CODES,
  pingMs: PING_MS,
  keepAliveMs: 0,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  post: postPolicies.cli2137,
}

/** CLI 2.1.119 and 2.1.120: ten minutes of patience, and everything it remembers again at each reconnect. */
const cli2120: DialPreset = {
  reconnect: {
    baseDelayMs: 1000,
    maxDelayMs: 30_000,
    jitter: 0.25,
    giveUpAfterMs: 600_000,
    sleepGapMs: 60_000,
    countsPerFailedDial: 1,
  },
  replay: "whole-ring",
  offline: "drop",
  httpErrors: "permanent",
  permanentCloseCodes: PERMANENT_CLOSE_CODES,
  pingMs: PING_MS,
  suspendGapMs: 60_000,
  keepAliveMs: 300_000,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  post: postPolicies.cli2120,
}

/** CLI 2.1.100: the patience of 2.1.120 and the memory of 2.1.37. */
const cli2100: DialPreset = { ...cli2120, replay: "none", httpErrors: "retry" }

/** Ours: loses nothing it was given while disconnected, and never gives up by itself. */
const patient: DialPreset = {
  ...cli2120,
  reconnect: { baseDelayMs: 1000, maxDelayMs: 30_000, jitter: 0.25, countsPerFailedDial: 1 },
  replay: "after-last-request-id",
  offline: "keep",
  httpErrors: "permanent-4xx",
  post: postPolicies.patient,
}

/** For a connection that is not to outlive its socket. */
const once: DialPreset = { ...patient, reconnect: "never", replay: "none", post: postPolicies.once }

export const dialPresets = { cli2137, cli2100, cli2120, patient, once } as const

export type DialPresetName = keyof typeof dialPresets

export function presetOf(preset: DialPresetName | DialPreset = "patient"): DialPreset {
  if (typeof preset !== "string") return preset
  if (Object.hasOwn(dialPresets, preset)) return dialPresets[preset]
  const names = Object.keys(dialPresets).join(", ")
  throw new TransportError("transport/misconfigured", `there is no dial preset "${preset}"; there are: ${names}`)
}
