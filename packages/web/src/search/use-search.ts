import { useEffect, useMemo, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { askSearch, requestOf, type SearchReply, type SearchWish } from "./search-query.ts"

export type SearchState =
  | { readonly name: "nothing" }
  /** `before`: what was found for what was typed before, until there is something newer. */
  | { readonly name: "searching"; readonly before: SearchReply | undefined }
  | { readonly name: "found"; readonly reply: SearchReply }
  | { readonly name: "failed"; readonly why: string }

/** Who types does not want an answer to every letter. */
const QUIET_MS = 150

export function useSearch(wish: SearchWish): { readonly state: SearchState; readonly retry: () => void } {
  const hub = useHub()
  const [state, setState] = useState<SearchState>({ name: "nothing" })
  const [tries, setTries] = useState(0)
  const isAsked = wish.text.trim() !== ""
  const key = JSON.stringify(requestOf(wish))
  const request = useMemo(() => ({ key, tries }), [key, tries])

  useEffect(() => {
    if (!isAsked) {
      setState({ name: "nothing" })
      return undefined
    }
    const ending = new AbortController()
    setState((now) => ({ name: "searching", before: now.name === "found" ? now.reply : beforeOf(now) }))
    const timer = setTimeout(() => {
      askSearch(hub, JSON.parse(request.key), ending.signal).then(
        (reply) => setState({ name: "found", reply }),
        (error: unknown) => {
          if (ending.signal.aborted) return
          setState({ name: "failed", why: error instanceof Error ? error.message : String(error) })
        },
      )
    }, QUIET_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [hub, isAsked, request])

  return { state, retry: () => setTries(tries + 1) }
}

function beforeOf(state: SearchState): SearchReply | undefined {
  return state.name === "searching" ? state.before : undefined
}
