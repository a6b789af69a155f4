import { HubError } from "../errors.ts"

export function noAgent(why: string): HubError {
  return new HubError("session/no-agent", `${why}: start an agent for it, or make a new session`)
}

export function rotated(next: string): HubError {
  return new HubError("session/rotated", `the conversation goes on in session ${next}`, { details: { next } })
}
