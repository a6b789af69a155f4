import { useState } from "react"
import { setPreferences, usePreferences } from "../app/preferences.ts"
import { playTone } from "../asks/tone.ts"
import { Notice } from "../design/notice.tsx"
import { Switch } from "../design/switch.tsx"

/** Off until somebody asks for them, with a click: a browser allows it no other way. */
export function NotificationSettings() {
  const { notify, notifyDetails, notifySound } = usePreferences()
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

  return (
    <div className="flex flex-col gap-3">
      {!isSecureContext ? (
        <Notice tone="neutral">
          Browsers have notifications for pages over https alone, and for those of this machine: this one came over
          plain http.
        </Notice>
      ) : permission === "none" ? (
        <Notice tone="neutral">
          This browser has no notifications here. On an iPhone or iPad, add the cockpit to the Home Screen first.
        </Notice>
      ) : (
        <Switch checked={isOn} onChange={() => void toggle()}>
          Tell me when an agent waits for a decision and I am not looking at it
        </Switch>
      )}
      {isSecureContext && permission === "denied" && (
        <Notice tone="caution">This browser blocks notifications for the cockpit: allow them in its settings.</Notice>
      )}
      <Switch checked={notifyDetails} onChange={() => setPreferences({ notifyDetails: !notifyDetails })}>
        Show details: what is asked, in the notification
      </Switch>
      <Switch checked={notifySound} onChange={toggleSound}>
        One short tone when something waits
      </Switch>
      <p className="max-w-prose text-dense text-text-2">
        Nothing can be allowed from a notification: what would run cannot be read there. They come while the cockpit is
        open in a tab, one for each session, and go when the decision is made.
      </p>
    </div>
  )
}
