import type { Ask, Hub, Session } from "@signalbox/client"
import { createContext, useCallback, useContext } from "react"
import type { Connection } from "./connection.ts"
import type { Fleet, HubStore, Me } from "./hub-store.ts"
import { useSelected, useValue } from "./value-store.ts"

export const HubContext = createContext<HubStore | undefined>(undefined)

export function useHubStore(): HubStore {
  const store = useContext(HubContext)
  if (store === undefined) throw new Error("a part of the cockpit stands outside of HubContext")
  return store
}

export function useHub(): Hub {
  return useHubStore().hub
}

export function useFleet(): Fleet {
  return useValue(useHubStore().fleet)
}

export function useSession(id: string): Session | undefined {
  return useSelected(
    useHubStore().fleet,
    useCallback(({ sessions }: Fleet) => sessions.get(id), [id]),
  )
}

export function useAsk(id: string): Ask | undefined {
  return useSelected(
    useHubStore().fleet,
    useCallback(({ asks }: Fleet) => asks.get(id), [id]),
  )
}

export function useConnection(): Connection {
  return useValue(useHubStore().connection)
}

/** Whoever sees the cockpit is known. */
export function useMe(): Me {
  return useValue(useHubStore().me) ?? { role: "viewer", name: "" }
}

/** Launches, sends, answers and interrupts. */
export function useCanOperate(): boolean {
  return useMe().role !== "viewer"
}
