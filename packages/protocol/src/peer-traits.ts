/** What a CLI can take without harm. Only known by version for old ones, which report no capabilities; unknown means the oldest. */
export interface PeerTraits {
  /** Takes `control_cancel_request`; 2.1.37 exits on it. */
  readonly takesCancel: boolean
  /** Takes a second `initialize` and answers it in full instead of "Already initialized". */
  readonly initializesAgain: boolean
  /** Takes `unanswered` beside the answers to its questions. An older one on a strict host refuses the whole answer. */
  readonly takesUnanswered: boolean
  /** Tells which environment variables it took. 2.1.120 does not, 2.1.325 does; in between it is told by the capabilities. */
  readonly answersVariables: boolean
}

const OLDEST: PeerTraits = {
  takesCancel: false,
  initializesAgain: false,
  takesUnanswered: false,
  answersVariables: false,
}

/** The oldest version seen to be tolerant; nothing between it and 2.1.37 was tried. */
const TOLERANT_SINCE = [2, 1, 100] as const
/** Before it, what only a modern CLI does is told by the capabilities. */
const MODERN_SINCE = [2, 1, 325] as const

export function peerTraits(peer: { claude_code_version?: string; capabilities?: readonly string[] }): PeerTraits {
  const version = parseVersion(peer.claude_code_version)
  const modern = (peer.capabilities?.length ?? 0) > 0 || isAtLeast(version, MODERN_SINCE)
  if (!modern && !isAtLeast(version, TOLERANT_SINCE)) return OLDEST
  return {
    takesCancel: true,
    initializesAgain: modern,
    takesUnanswered: peer.capabilities?.includes("ask_user_question_unanswered_v1") === true,
    answersVariables: modern,
  }
}

function parseVersion(text: string | undefined): readonly number[] | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(text ?? "")
  return match === null ? undefined : match.slice(1, 4).map(Number)
}

function isAtLeast(version: readonly number[] | undefined, least: readonly number[]): boolean {
  if (version === undefined) return false
  for (const [index, part] of least.entries()) {
    const own = version[index] ?? 0
    if (own !== part) return own > part
  }
  return true
}

/** The CLIs' own words, from 2.0 to 2.1.325, for an account or a key that does not let them in. */
const SIGN_IN =
  /not logged in|please run \/login|invalid api key|authentication_(?:failed|error)|oauth (?:token|authentication).{0,40}(?:expired|revoked|not supported)|invalid (?:bearer|auth) token/i

/** True if this text of an agent says that it is not signed in. */
export function saysSignIn(text: string): boolean {
  return SIGN_IN.test(text.slice(0, 2_000))
}
