import { useEffect, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { type HubSettings, readSettings } from "../app/hub-settings.ts"
import { Notice } from "../design/notice.tsx"
import { Switch } from "../design/switch.tsx"

/** The hub's own settings, for admins. What is shown is what the hub confirmed. */
export function PermissionSettings() {
  const hub = useHub()
  const [settings, setSettings] = useState<HubSettings | undefined>(undefined)
  const [trouble, setTrouble] = useState<string | undefined>(undefined)

  useEffect(() => {
    readSettings(hub).then(setSettings, (error: unknown) => setTrouble(`Couldn't load: ${wordsOf(error)}`))
  }, [hub])

  async function toggle(before: HubSettings): Promise<void> {
    setTrouble(undefined)
    const body = { ...before, operatorsMayUseAuto: !before.operatorsMayUseAuto }
    try {
      setSettings(await hub.request<HubSettings>({ method: "PUT", path: "/api/settings", body }))
    } catch (error) {
      setTrouble(`Not changed: ${wordsOf(error)}`)
    }
  }

  return (
    <div className="flex flex-col gap-3">
      {trouble !== undefined && <Notice tone="caution">{trouble}</Notice>}
      {settings !== undefined && (
        <Switch checked={settings.operatorsMayUseAuto} onChange={() => void toggle(settings)}>
          Operators may use auto mode
        </Switch>
      )}
      <p className="max-w-prose text-dense text-text-2">
        In auto mode a model decides what may run, and nobody is asked. Admins may always choose it. This applies to
        everyone on this hub.
      </p>
    </div>
  )
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
