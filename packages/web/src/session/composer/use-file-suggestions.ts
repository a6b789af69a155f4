import type { Session } from "@signalbox/client"
import { useEffect, useState } from "react"
import { refusalWords } from "../../agent/agent-question.ts"
import { isReachable } from "../../agent/reachable.ts"
import { useHub } from "../../app/hub-context.ts"
import { readSuggestions } from "./file-suggestions.ts"

/** What came of asking for files. */
export type FileOffers =
  | { readonly name: "none" }
  | { readonly name: "offered"; readonly paths: readonly string[] }
  | { readonly name: "refused"; readonly why: string }

const NONE: FileOffers = { name: "none" }
/** Somebody who types is not asked about every letter. */
const PAUSE_MS = 120
/** The oldest CLIs say nothing at all to what they do not know. */
const TIMEOUT_MS = 5000

/** The agent's own files that go on from `query`; undefined: none are wanted. */
export function useFileSuggestions(session: Session, query: string | undefined): FileOffers {
  const hub = useHub()
  const { id, cliVersion } = session
  const isHere = isReachable(session)
  const [told, setTold] = useState<{ readonly query: string; readonly offers: FileOffers }>()
  const isWanted = query !== undefined
  const isRefused = told?.offers.name === "refused"
  useEffect(() => {
    // Another time it may be another process, which knows more.
    if (!isWanted) setTold(undefined)
  }, [isWanted])
  useEffect(() => {
    if (query === undefined || isRefused) return undefined
    if (!isHere) return setTold({ query, offers: { name: "refused", why: "The agent is not here to be asked." } })
    let isOver = false
    const settle = (offers: FileOffers) => {
      if (!isOver) setTold({ query, offers })
    }
    const ask = () => {
      hub
        .session(id)
        .control({ subtype: "file_suggestions", query }, { timeoutMs: TIMEOUT_MS })
        .then(
          (reply) => settle({ name: "offered", paths: readSuggestions(reply) }),
          (error: unknown) => settle({ name: "refused", why: refusalWords(error, { cliVersion }) }),
        )
    }
    const timer = setTimeout(ask, PAUSE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [hub, id, cliVersion, query, isRefused, isHere])
  // What was offered for the letters before is shown until the new ones are answered: a list that blinks cannot be read.
  return !isWanted || told === undefined ? NONE : told.offers
}
