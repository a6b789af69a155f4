import { type Ask, HubClientError } from "@signalbox/client"
import { useEffect, useState } from "react"
import { useAsk, useConnection, useHubStore } from "../app/hub-context.ts"

export type FoundAsk =
  | { readonly name: "looking" }
  | { readonly name: "found"; readonly ask: Ask }
  | { readonly name: "missing"; readonly why: string }

/** One ask by its id: what is known of it already, else asked for. */
export function useFoundAsk(id: string): FoundAsk {
  const store = useHubStore()
  const ask = useAsk(id)
  const [trouble, setTrouble] = useState<{ readonly id: string; readonly why: string } | undefined>(undefined)
  const isKnown = ask !== undefined
  const isLive = useConnection().name === "live"
  useEffect(() => {
    // Asked again when the hub is back: what could not be reached is not missing.
    if (isKnown || !isLive) return
    store.hub.ask(id).then(
      (found) => store.takeAsk(found),
      (error: unknown) => {
        const isMissing = error instanceof HubClientError && error.status === 404
        setTrouble({ id, why: isMissing ? "There is no such request." : String(error) })
      },
    )
  }, [store, id, isKnown, isLive])
  if (ask !== undefined) return { name: "found", ask }
  return trouble?.id === id ? { name: "missing", why: trouble.why } : { name: "looking" }
}
