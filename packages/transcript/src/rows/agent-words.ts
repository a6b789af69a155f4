import type { RowOf } from "./row.ts"

/** The agent's own codes, as people read them: modes, failed requests, limits of a plan. */

const MODES: Readonly<Record<string, string>> = {
  default: "Ask",
  acceptEdits: "Accept edits",
  plan: "Plan",
  dontAsk: "Deny anything not pre-approved",
  delegate: "Delegate",
  auto: "Auto",
  bypassPermissions: "Bypass permissions",
}

/** A mode that nobody knows yet has its own name. */
export function modeName(mode: string): string {
  return Object.hasOwn(MODES, mode) ? (MODES[mode] ?? mode) : mode
}

interface Failure {
  readonly what: string
  /** What to do about it. */
  readonly next?: string
}

const FAILURES: ReadonlyMap<string, Failure> = new Map(
  Object.entries({
    rate_limit: { what: "Rate limit reached.", next: "Wait for it to reset, or choose another model." },
    authentication_failed: {
      what: "The agent is not signed in.",
      next: "Sign in on its machine: run claude and then /login.",
    },
    billing_error: { what: "Billing problem.", next: "Check billing for the agent's account." },
    invalid_request: {
      what: "The API refused the request.",
      next: "The message says why. A shorter message or another model may help.",
    },
    overloaded: { what: "The API is overloaded.", next: "Try again later." },
    model_not_found: { what: "Model not found.", next: "Choose another model." },
    oauth_org_not_allowed: {
      what: "This account's organisation isn't allowed.",
      next: "Sign in with another account on its machine: run claude and then /login.",
    },
    account_on_hold: { what: "The account is on hold.", next: "Check the account page for the reason." },
    verification_required: { what: "Account verification required.", next: "Verify it on the account page." },
    cloud_credential_error: { what: "Cloud credentials were refused.", next: "Renew them on the agent's machine." },
    unknown: { what: "The request failed.", next: "Send the message again." },
    server_error: { what: "The API failed.", next: "Try again later." },
    max_output_tokens: { what: "The answer was too long.", next: "Ask Claude to continue, or to do less at once." },
  }),
)

/** CLIs give it several codes, and sending the same again would fail again. */
const FULL: Failure = { what: "The context is full.", next: "Send /compact, or start a new session." }

export function failureOf({ code, text }: Pick<RowOf<"failure">, "code" | "text">): Failure {
  if (/prompt is too long/i.test(text)) return FULL
  return FAILURES.get(code) ?? { what: `The request failed (${code}).` }
}

interface LimitNames {
  readonly name: string
  readonly short: string
}

const LIMITS: ReadonlyMap<string, LimitNames> = new Map(
  Object.entries({
    five_hour: { name: "5-hour limit", short: "5 h" },
    seven_day: { name: "7-day limit", short: "7 d" },
    seven_day_opus: { name: "7-day Opus limit", short: "7 d" },
    seven_day_sonnet: { name: "7-day Sonnet limit", short: "7 d" },
  }),
)

/** A plan's window, by its name and by a short one. */
export function limitNames(type: string | undefined): LimitNames {
  if (type === undefined) return { name: "Rate limit", short: "limit" }
  return LIMITS.get(type) ?? { name: `Limit ${type}`, short: "limit" }
}

/** In percent. Some CLIs tell a share of one, some of a hundred. */
export function limitPercent(used: number): number {
  return Math.round(used * (used <= 1 ? 100 : 1))
}

/** `resets`: when the limit resets, as a clock on the reader's wall has it. */
export function limitWords({ status, limitType, utilization }: RowOf<"limit">, resets?: string): string {
  const { name } = limitNames(limitType)
  const used = utilization === undefined ? "" : `, ${limitPercent(utilization)} % used`
  if (status === "allowed") return `Within the ${name.charAt(0).toLowerCase()}${name.slice(1)} again${used}`
  return `${name}${status === "rejected" ? " reached" : ""}${used}${resets === undefined ? "" : `, resets at ${resets}`}`
}
