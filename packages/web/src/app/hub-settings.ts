import type { Hub } from "@signalbox/client"
import { useEffect, useState } from "react"
import { useHub, useMe } from "./hub-context.ts"

export interface HubSettings {
  readonly operatorsMayUseAuto: boolean
}

export function readSettings(hub: Hub): Promise<HubSettings> {
  return hub.request<HubSettings>({ method: "GET", path: "/api/settings", repeatable: true })
}

export interface ModeRights {
  readonly isAdmin: boolean
  readonly mayUseAuto: boolean
}

/** Admins choose every mode. Operators choose auto while the hub's setting is on; until that is known, they are not offered it. */
export function useModeRights(): ModeRights {
  const hub = useHub()
  const { role } = useMe()
  const [isOn, setOn] = useState(false)
  useEffect(() => {
    if (role !== "operator") return
    readSettings(hub).then(
      ({ operatorsMayUseAuto }) => setOn(operatorsMayUseAuto),
      () => undefined,
    )
  }, [hub, role])
  const isAdmin = role === "admin"
  return { isAdmin, mayUseAuto: isAdmin || (role === "operator" && isOn) }
}
