import { HubClientError, type Session } from "@signalbox/client"
import { useCallback, useEffect, useState } from "react"
import { hubNow } from "../app/clock.ts"
import { useCanOperate, useHub } from "../app/hub-context.ts"
import { whileOpen } from "../app/value-store.ts"

/** The outcome of asking the agent something about itself. */
type Reply<T> =
  | { readonly name: "asking" }
  | { readonly name: "told"; readonly value: T; readonly at: number }
  | { readonly name: "refused"; readonly why: string }
  /** There is no agent to ask, or it is not for this reader to ask it. */
  | { readonly name: "unavailable"; readonly why: string }

/** A version that does not know a request may say nothing at all. */
const TIMEOUT_MS = 15_000

const UNSUPPORTED = /unsupported|unknown (?:control|request|subtype)/i

/** Why the agent did not do it, as people can use it. */
export function refusalWords(error: unknown, { cliVersion }: Pick<Session, "cliVersion">): string {
  const version = cliVersion === null ? "this CLI" : `CLI ${cliVersion}`
  if (!(error instanceof HubClientError)) return String(error)
  const isSilent = cliVersion !== null && !refusesUnknown(cliVersion)
  if (error.code === "control/timeout" && !isSilent) return `${version} did not answer; it may not support this`
  if (error.code === "control/timeout" || (error.code === "control/refused" && UNSUPPORTED.test(error.message)))
    return `Not supported by ${version}`
  return error.message
}

interface Question<T> {
  readonly session: Session
  readonly subtype: string
  /** Reads the reply, whatever else it holds. */
  readonly read: (reply: unknown) => T
}

/** Asked when a panel opens and whenever somebody wants it anew. `read` must be the same function each time. */
export function useAgentQuestion<T>({ session, subtype, read }: Question<T>): readonly [Reply<T>, () => void] {
  const hub = useHub()
  const canOperate = useCanOperate()
  const { id, cliVersion } = session
  const isHere = isReachable(session)
  const [times, setTimes] = useState(0)
  const [reply, setReply] = useState<Reply<T>>({ name: "asking" })
  useEffect(() => {
    if (!canOperate) return setReply({ name: "unavailable", why: "View only. Operators can load this." })
    if (!isHere) return setReply({ name: "unavailable", why: "The agent isn't connected." })
    return whileOpen(
      hub.session(id).control({ subtype }, { timeoutMs: TIMEOUT_MS }),
      (body) => setReply({ name: "told", value: read(body), at: hubNow() }),
      (error) => setReply({ name: "refused", why: refusalWords(error, { cliVersion }) }),
    )
  }, [hub, id, cliVersion, subtype, read, canOperate, isHere, times])
  return [reply, useCallback(() => setTimes((before) => before + 1), [])]
}

/** Whether a CLI is this version or a later one. One that is not known is taken for the oldest. */
export function isAtLeast(cliVersion: string | null, least: readonly [number, number, number]): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(cliVersion ?? "")
  if (parts === null) return false
  for (const [index, wanted] of least.entries()) {
    const own = Number(parts[index + 1])
    if (own !== wanted) return own > wanted
  }
  return true
}

/** The oldest version seen to refuse what it does not know; nothing between it and 2.1.37 was tried. */
const ANSWERS_SINCE = [2, 1, 100] as const

/** Whether a CLI answers also what it does not know. The oldest say nothing at all then. */
export function refusesUnknown(cliVersion: string | null): boolean {
  return isAtLeast(cliVersion, ANSWERS_SINCE)
}

/** Whether there is an agent that can be asked something. */
export function isReachable({ state }: Pick<Session, "state">): boolean {
  return state === "idle" || state === "running" || state === "waiting"
}
