import type { Ask } from "@signalbox/client"
import type { Fleet } from "../app/hub-store.ts"
import { preferences } from "../app/preferences.ts"
import { navigate } from "../app/router.tsx"
import { summaryOf } from "../fleet/ask-words.ts"
import { titleOf } from "../fleet/session-words.ts"
import { wasLookedAt } from "./looking.ts"

interface Shown {
  readonly note: Notification
  readonly ask: string
}

/** One per session; whatever tab shows it, the system replaces it by its tag. */
const shown = new Map<string, Shown>()

/** By the system, while nobody looks at that session. What is asked only if that was chosen; no way to answer. */
export function notifyOf(arrived: readonly Ask[], { sessions }: Fleet): void {
  const { notify, notifyDetails } = preferences.get()
  if (!notify || !("Notification" in globalThis) || Notification.permission !== "granted") return
  const latest = new Map(arrived.map((ask) => [ask.sessionId, ask]))
  for (const [id, ask] of latest) {
    if (wasLookedAt(id)) continue
    const session = sessions.get(id)
    const title = `Needs a decision: ${session === undefined ? "a session" : titleOf(session)}`
    const note = new Notification(title, { tag: `signalbox:${id}`, ...(notifyDetails ? { body: summaryOf(ask) } : {}) })
    shown.set(id, { note, ask: ask.id })
    note.addEventListener("click", () => {
      focus()
      navigate(`/approvals/${encodeURIComponent(ask.id)}`)
      note.close()
    })
  }
}

/** What was decided meanwhile asks for nothing any more. */
export function closeSettled({ asks }: Fleet): void {
  for (const [session, { note, ask }] of shown) {
    if (asks.get(ask)?.state === "pending") continue
    note.close()
    shown.delete(session)
  }
}
