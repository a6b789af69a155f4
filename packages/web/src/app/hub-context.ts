import type { Ask, Hub, Session } from "@signalbox/client"
import { createContext, useContext, useEffect, useState } from "react"
import type { Connection, Fleet, HubStore, Person } from "./hub-store.ts"
import { useSelected, useValue, whileOpen } from "./value-store.ts"

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
  return useSelected(useHubStore().fleet, ({ sessions }) => sessions.get(id))
}

export function useAsk(id: string): Ask | undefined {
  return useSelected(useHubStore().fleet, ({ asks }) => asks.get(id))
}

export function useConnection(): Connection {
  return useValue(useHubStore().connection)
}

/** The signed-in person: nobody else sees the cockpit. */
export function useMe(): Person {
  return useValue(useHubStore().me) ?? { role: "viewer", name: "" }
}

/** Launches, sends, answers and interrupts. */
export function useCanOperate(): boolean {
  return useMe().role !== "viewer"
}

export type ModeRights = Readonly<Record<"isAdmin" | "mayUseAuto", boolean>>

/** Admins choose every mode. Operators choose auto while the hub's setting is on; until that is known, they are not offered it. */
export function useModeRights(): ModeRights {
  const hub = useHub()
  const { role } = useMe()
  const [isOn, setOn] = useState(false)
  useEffect(() => {
    if (role !== "operator") return undefined
    return whileOpen(hub.settings(), ({ operatorsMayUseAuto }) => setOn(operatorsMayUseAuto))
  }, [hub, role])
  const isAdmin = role === "admin"
  return { isAdmin, mayUseAuto: isAdmin || (role === "operator" && isOn) }
}

/** Marks a session as read up to an event, while the page is visible; 0 marks nothing. */
export function useMarkRead(session: string, seq: number): void {
  const { reads } = useHubStore()
  useEffect(() => {
    const mark = () => {
      if (document.visibilityState === "visible") reads.mark(session, seq)
    }
    mark()
    document.addEventListener("visibilitychange", mark)
    return () => document.removeEventListener("visibilitychange", mark)
  }, [reads, session, seq])
}

/** Names the person who did something; the reader is "you". */
export function useWho(): (name: string) => string {
  const me = useMe()
  return (name) => (name === me.name ? "you" : name)
}
