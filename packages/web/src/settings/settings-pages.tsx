import type { HubSettings } from "@signalbox/client"
import { type ReactNode, useEffect, useState } from "react"
import { useCanOperate, useHub } from "../app/hub-context.ts"
import { setPreferences, usePreferences } from "../app/preferences.ts"
import { APP_NAME } from "../app/screen.tsx"
import { unknownEvents } from "../app/unknown-events.ts"
import { useValue } from "../app/value-store.ts"
import { playTone } from "../asks/arrivals.ts"
import { Switch } from "../design/field.tsx"
import { Notice } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { plural } from "../design/words.ts"
import { useMachines } from "../fleet/machine-store.tsx"
import { OWN_VERSION } from "../machines/own-version.ts"

/** Off until somebody asks for them, with a click: a browser allows it no other way. */
export function NotificationSettings() {
  const { notify, notifyDetails, notifySound } = usePreferences()
  const canOperate = useCanOperate()
  const [permission, setPermission] = useState("Notification" in globalThis ? Notification.permission : "none")
  const isOn = notify && permission === "granted"

  async function toggle(): Promise<void> {
    if (isOn) return setPreferences({ notify: false })
    if (permission === "none") return
    const answer = await Notification.requestPermission()
    setPermission(answer)
    setPreferences({ notify: answer === "granted" })
  }

  function toggleSound(): void {
    setPreferences({ notifySound: !notifySound })
    // So that it is known how it sounds; and the click lets the page sound later on.
    if (!notifySound) playTone()
  }

  if (!canOperate) return <Notice tone="neutral">View only: you can't answer requests, so you aren't notified.</Notice>
  return (
    <div className="flex flex-col gap-3">
      {!isSecureContext ? (
        <Notice tone="neutral">Notifications need https, or localhost. This page came over plain http.</Notice>
      ) : permission === "none" ? (
        <Notice tone="neutral">
          Notifications aren't available in this browser. On an iPhone or iPad, add the cockpit to the Home Screen
          first.
        </Notice>
      ) : (
        <Switch checked={isOn} onChange={() => void toggle()}>
          Notify me when an agent needs a decision
        </Switch>
      )}
      {isSecureContext && permission === "denied" && (
        <Notice tone="caution">Notifications are blocked. Allow them in your browser settings.</Notice>
      )}
      <Switch checked={notifyDetails} onChange={() => setPreferences({ notifyDetails: !notifyDetails })}>
        Show the request in notifications
      </Switch>
      <Switch checked={notifySound} onChange={toggleSound}>
        Play a sound
      </Switch>
      <p className="max-w-prose text-dense text-text-2">
        Requests can't be answered from a notification. Notifications appear while the cockpit is open in a tab, one per
        session, and close when the request is answered.
      </p>
    </div>
  )
}

/** The hub's own settings, for admins. What is shown is what the hub confirmed. */
export function PermissionSettings() {
  const hub = useHub()
  const [settings, setSettings] = useState<HubSettings | undefined>(undefined)
  const [trouble, setTrouble] = useState<string | undefined>(undefined)

  useEffect(() => {
    hub.settings().then(setSettings, (error: unknown) => setTrouble(`Couldn't load: ${wordsOf(error)}`))
  }, [hub])

  async function toggle({ operatorsMayUseAuto }: HubSettings): Promise<void> {
    setTrouble(undefined)
    try {
      // All settings are put at once: somebody may have changed others since this page was opened.
      const now = await hub.settings()
      setSettings(await hub.setSettings({ ...now, operatorsMayUseAuto: !operatorsMayUseAuto }))
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
        In auto mode a model decides what may run, without asking. Admins can always use it. This applies to everyone on
        this hub.
      </p>
    </div>
  )
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Versions here and on the machines, and the events that the cockpit does not know yet. */
export function About() {
  const { all } = useMachines()
  const unknown = [...useValue(unknownEvents)].toSorted(([, a], [, b]) => b - a)
  return (
    <div className="flex flex-col gap-6">
      <Part title="Versions">
        <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
          <Version of={APP_NAME}>{OWN_VERSION}</Version>
          {all.map(({ id, name, version, cliVersions }) => (
            <Version key={id} of={oneLine(name, 80)}>
              runner {version}
              {cliVersions.length > 0 && `, Claude Code ${cliVersions.join(", ")}`}
            </Version>
          ))}
        </dl>
      </Part>
      <Part title="Unknown events">
        {unknown.length === 0 ? (
          <p className="text-text-2">None since this page was opened.</p>
        ) : (
          <>
            <ul aria-label="Unknown events" className="flex flex-col gap-1">
              {unknown.map(([kind, count]) => (
                <li key={kind} className="flex gap-3">
                  <bdi className="min-w-0 truncate font-mono text-dense">{oneLine(kind, 80)}</bdi>
                  <span className="shrink-0 text-text-2 tabular-nums">{plural(count, "event")}</span>
                </li>
              ))}
            </ul>
            <p className="text-dense text-text-2">
              Seen since this page was opened. A newer {APP_NAME} may support them.
            </p>
          </>
        )}
      </Part>
    </div>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-medium">{title}</h2>
      {children}
    </section>
  )
}

function Version({ of, children }: { readonly of: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-text-2">
        <bdi>{of}</bdi>
      </dt>
      <dd className="min-w-0 tabular-nums">{children}</dd>
    </>
  )
}
