import type { Session } from "@signalbox/client"
import { announce } from "../app/announcer.tsx"
import { useCanOperate, useHubStore } from "../app/hub-context.ts"
import type { HubStore } from "../app/hub-store.ts"
import { createValueStore, useValue } from "../app/value-store.ts"
import { titleOf } from "../fleet/session-words.ts"
import { watchRow } from "./row-focus.ts"

/** What went wrong with something done to a session outside of its own screen. */
const trouble = createValueStore<string | undefined>(undefined)

export function useTrouble(): readonly [string | undefined, () => void] {
  return [useValue(trouble), () => trouble.set(undefined)]
}

export interface SessionActions {
  readonly interrupt: () => void
  readonly stop: () => void
  readonly rename: (title: string) => void
  readonly archive: (archived: boolean) => void
}

/** Undefined for those who may not. */
export function useSessionActions(session: Pick<Session, "id" | "transport">): SessionActions | undefined {
  const store = useHubStore()
  const canOperate = useCanOperate()
  if (!canOperate) return undefined
  const one = store.hub.session(session.id)
  return {
    interrupt: () => attempt("Could not interrupt", () => one.interrupt(), "Interrupted"),
    stop: () => attempt("Could not stop it", () => one.stop(), "Stopped"),
    rename: (title) =>
      attempt(
        "Could not rename it",
        async () => {
          store.takeSession(await one.change({ title }))
          // So that `claude --resume` calls it that too. Older ones cannot; one that rests is not woken for it.
          if (session.transport !== null)
            void one.control({ subtype: "rename_session", title, source: "host" }).catch(() => undefined)
        },
        "Renamed",
      ),
    archive: (archived) => archive(store, session.id, archived),
  }
}

function attempt(what: string, run: () => Promise<unknown>, done?: string): void {
  const attempted = async () => {
    try {
      await run()
      if (done !== undefined) announce(done)
    } catch (error) {
      trouble.set(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  void attempted()
}

/** Its row may go: the one that had the focus in it goes on from the next. */
export function archive(store: HubStore, id: string, archived: boolean): void {
  attempt(archived ? "Could not archive it" : "Could not bring it back", async () => {
    // The stream may tell of it before the answer comes.
    const mendFocus = watchRow(id)
    const changed = await store.hub.session(id).change({ archived })
    store.takeSession(changed)
    mendFocus()
    announce(`${archived ? "Archived" : "Brought back"} ${titleOf(changed)}`)
  })
}
