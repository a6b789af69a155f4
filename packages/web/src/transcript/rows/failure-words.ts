import type { LimitRow } from "@signalbox/transcript"
import { moment } from "../../design/moment.ts"
import { limitNames, limitPercent, limitResetMs } from "../../fleet/limit-words.ts"

/** The CLI's codes for a request that failed: what happened, and what to do. */
export const FAILURES: Readonly<Record<string, { readonly what: string; readonly next: string }>> = {
  rate_limit: { what: "The rate limit is reached.", next: "Wait for it to reset, or choose another model." },
  authentication_failed: {
    what: "The agent is not signed in.",
    next: "Sign in on its machine: run claude and then /login.",
  },
  billing_error: {
    what: "The account cannot pay for this request.",
    next: "Look at the billing of the account the agent uses.",
  },
  invalid_request: {
    what: "The API refused the request.",
    next: "The message says why. A shorter message or another model may help.",
  },
  overloaded: { what: "The API is overloaded.", next: "Send the message again in a while." },
  model_not_found: { what: "The model is not there.", next: "Choose another model." },
  oauth_org_not_allowed: {
    what: "The organisation of this account may not use the agent.",
    next: "Sign in with another account on its machine: run claude and then /login.",
  },
  account_on_hold: { what: "The account is on hold.", next: "Look at the account's page for the reason." },
  verification_required: { what: "The account has to be verified.", next: "Verify it on the account's page." },
  cloud_credential_error: {
    what: "The cloud's credentials were refused.",
    next: "Renew them on the agent's machine.",
  },
  unknown: { what: "The request failed.", next: "Send the message again." },
  server_error: { what: "The API failed.", next: "Send the message again in a while." },
  max_output_tokens: { what: "The answer was longer than allowed.", next: "Ask it to go on, or for less at once." },
}

export function limitWords({ status, limitType, utilization, resetsAt, at }: LimitRow): string {
  const { name } = limitNames(limitType)
  const used = utilization === undefined ? "" : `, ${limitPercent(utilization)} % used`
  const resets = resetsAt === undefined ? "" : `, resets at ${moment(limitResetMs(resetsAt), Date.parse(at))}`
  if (status === "allowed") return `Within the ${name.charAt(0).toLowerCase()}${name.slice(1)} again${used}`
  const reached = status === "rejected" ? " reached" : ""
  return `${name}${reached}${used}${resets}`
}
