import { saysSignIn } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"

type Facts = Pick<Session, "state" | "lastResult" | "exit">

/** True if the session's last turn or process failed. The state of a failed session is still `idle` or `ended`. */
export function hasFailed({ state, lastResult, exit }: Facts): boolean {
  if (state === "running" || state === "starting") return false
  // A person ended it: a turn that broke off by that did not fail.
  if (state === "ended" && exit?.reason.startsWith("stopped by") === true) return false
  const isErrorResult = lastResult?.isError === true && lastResult.interruptedBy === undefined
  const isBadExit = state === "ended" && (exit?.signal !== undefined || (exit?.code ?? 0) !== 0)
  return isErrorResult || isBadExit
}

/** Advice for a failed session, if we have any: "Not signed in. On attic, run …". */
export function failureAdvice(session: Facts & Pick<Session, "lastLine">, machine?: string): string | undefined {
  if (!hasFailed(session) || !saysSignIn(session.lastLine ?? session.exit?.reason ?? "")) return undefined
  return `Not signed in. ${machine === undefined ? "On its machine" : `On ${machine}`}, run claude, then /login.`
}
