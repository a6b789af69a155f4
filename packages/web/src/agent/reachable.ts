import type { Session } from "@signalbox/client"

/** Whether there is an agent that can be asked something. */
export function isReachable({ state }: Pick<Session, "state">): boolean {
  return state === "idle" || state === "running" || state === "waiting"
}
