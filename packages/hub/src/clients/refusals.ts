import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"

export function forbidden({ role }: Caller, what: string): HubError {
  return new HubError("auth/forbidden", `the role ${role} may not ${what} here: use a token with more rights`)
}

export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error
  return new HubError("hub/internal", "the hub failed at this", { cause: error })
}
