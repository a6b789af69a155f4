import type { Ask } from "@signalbox/client"
import type { Fleet } from "../app/hub-store.ts"
import { preferences } from "../app/preferences.ts"
import { navigate } from "../app/router.ts"
import { titleOf } from "../sessions/session-words.ts"
import { summaryOf } from "./ask-words.ts"

/** By the system, while nobody looks at this page. One per session; what is asked only if that was chosen; no way to answer. */
export function notifyOf(arrived: readonly Ask[], { sessions }: Fleet): void {
  const { notify, notifyDetails } = preferences.get()
  if (!notify || !("Notification" in globalThis) || Notification.permission !== "granted") return
  if (document.visibilityState === "visible" && document.hasFocus()) return
  const latest = new Map(arrived.map((ask) => [ask.sessionId, ask]))
  for (const [id, ask] of latest) {
    const session = sessions.get(id)
    const title = `Needs a decision: ${session === undefined ? "a session" : titleOf(session)}`
    const note = new Notification(title, { tag: `signalbox:${id}`, ...(notifyDetails ? { body: summaryOf(ask) } : {}) })
    note.addEventListener("click", () => {
      focus()
      navigate(`/approvals/${ask.id}`)
      note.close()
    })
  }
}
