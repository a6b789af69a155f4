import { type Ask, HubClientError } from "@signalbox/client"
import { useEffect, useState } from "react"
import { useAsk, useConnection, useHubStore } from "../app/hub-context.ts"

export type FoundAsk =
  | { readonly name: "looking" }
  | { readonly name: "found"; readonly ask: Ask }
  | { readonly name: "missing" }
  | { readonly name: "failed"; readonly why: string; readonly retry: () => void }

/** One ask by its id: what is known of it already, else asked for. */
export function useFoundAsk(id: string): FoundAsk {
  const store = useHubStore()
  const ask = useAsk(id)
  const [trouble, setTrouble] = useState<{ readonly id: string; readonly why?: string } | undefined>(undefined)
  const [tries, setTries] = useState(0)
  const isKnown = ask !== undefined
  const isLive = useConnection().name === "live"
  useEffect(() => {
    // Asked again when the hub is back: what could not be reached is not missing.
    if (isKnown || !isLive) return
    store.hub.ask(id).then(
      (found) => store.takeAsk(found),
      (error: unknown) => {
        const isMissing = error instanceof HubClientError && error.status === 404
        setTrouble(isMissing ? { id } : { id, why: error instanceof Error ? error.message : String(error) })
      },
    )
  }, [store, id, isKnown, isLive, tries])
  if (ask !== undefined) return { name: "found", ask }
  if (trouble?.id !== id) return { name: "looking" }
  if (trouble.why === undefined) return { name: "missing" }
  return { name: "failed", why: trouble.why, retry: () => setTries(tries + 1) }
}
