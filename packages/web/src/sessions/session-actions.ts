import type { Session } from "@signalbox/client"
import { announce } from "../app/announcer.tsx"
import { useCanOperate, useHubStore } from "../app/hub-context.ts"
import type { HubStore } from "../app/hub-store.ts"
import type { KeyMap } from "../app/keyboard.ts"
import { stepRows } from "../app/roving.ts"
import { createValueStore, useValue } from "../app/value-store.ts"
import { titleOf } from "../fleet/session-words.ts"
import { selectTo, toggleSelected } from "./selection.ts"

/** The failure of something done to a session outside of its own screen. */
const trouble = createValueStore<string | undefined>(undefined)

export function useTrouble(): readonly [string | undefined, () => void] {
  return [useValue(trouble), () => trouble.set(undefined)]
}

export interface SessionActions {
  readonly interrupt: () => void
  readonly stop: () => void
  readonly rename: (title: string) => void
  readonly archive: (archived: boolean) => void
  readonly pin: (pinned: boolean) => void
}

/** Undefined for those who may not. */
export function useSessionActions(session: Pick<Session, "id" | "transport">): SessionActions | undefined {
  const store = useHubStore()
  const canOperate = useCanOperate()
  if (!canOperate) return undefined
  const one = store.hub.session(session.id)
  return {
    interrupt: () => attempt("Couldn't interrupt", () => one.interrupt(), "Interrupted"),
    stop: () => attempt("Couldn't stop the session", () => one.stop(), "Stopped"),
    rename: (title) =>
      attempt(
        "Couldn't rename the session",
        async () => {
          store.takeSession(await one.change({ title }))
          // So that `claude --resume` calls it that too. Older ones cannot; one that rests is not woken for it.
          if (session.transport !== null)
            void one.control({ subtype: "rename_session", title, source: "host" }).catch(() => undefined)
        },
        "Renamed",
      ),
    archive: (archived) => archive(store, session.id, archived),
    pin: (pinned) =>
      attempt(
        pinned ? "Couldn't pin the session" : "Couldn't unpin the session",
        async () => store.takeSession(await one.change({ pinned })),
        pinned ? "Pinned" : "Unpinned",
      ),
  }
}

function attempt(what: string, run: () => Promise<unknown>, words?: string): void {
  run().then(
    () => words !== undefined && announce(words),
    (error: unknown) => trouble.set(`${what}: ${error instanceof Error ? error.message : String(error)}`),
  )
}

/** Its row may go: the one that had the focus in it goes on from the next. */
export function archive(store: HubStore, id: string, archived: boolean): void {
  attempt(archived ? "Couldn't archive the session" : "Couldn't unarchive the session", async () => {
    // The stream may tell of it before the answer comes.
    const mendFocus = watchRow(id)
    const changed = await store.hub.session(id).change({ archived })
    store.takeSession(changed)
    mendFocus()
    announce(`${archived ? "Archived" : "Unarchived"} ${titleOf(changed)}`)
  })
}

function chosen(): string | undefined {
  const row = document.activeElement?.closest<HTMLElement>("[data-session]")
  return row?.dataset["session"]
}

/** Rows of the list for j and k; arrows stop at the headings too. */
export const SESSION_ROWS = "[data-session]"

function step(by: number): void {
  stepRows(document.querySelector<HTMLElement>("#main [data-region='content']"), by, SESSION_ROWS)
}

/** j and k go through the list; x, i and # act on the row that has the focus, never on another. */
export function useListKeys(onArchive: (id: string) => void): KeyMap {
  const store = useHubStore()
  const canOperate = store.me.get()?.role !== "viewer"
  const extend = (by: number) => (event: KeyboardEvent) => {
    const from = chosen()
    if (!event.shiftKey || from === undefined) return "not-here"
    selectTo(from)
    step(by)
    const to = chosen()
    if (to !== undefined) selectTo(to)
    return undefined
  }
  return {
    j: () => step(1),
    k: () => step(-1),
    ...(canOperate
      ? {
          ArrowDown: extend(1),
          ArrowUp: extend(-1),
          x: () => {
            const id = chosen()
            if (id !== undefined) toggleSelected(id)
          },
          X: () => {
            const id = chosen()
            if (id !== undefined) selectTo(id)
          },
          i: () => {
            const id = chosen()
            // The row's own state tells of a failure; keys have no other place to say it.
            if (id !== undefined)
              void store.hub
                .session(id)
                .interrupt()
                .catch(() => undefined)
          },
          "#": () => {
            const id = chosen()
            if (id !== undefined) onArchive(id)
          },
        }
      : {}),
  }
}

/** The links of all rows, as they stand below each other. */
function rowLinks(): HTMLAnchorElement[] {
  return [...document.querySelectorAll<HTMLAnchorElement>("[data-session] > a")]
}

/** Frames in which a row may still be drawn. */
const MAX_FRAMES = 20

/** Called before a session leaves the list. What it gives is called then: a focus that was lost with the row goes to the next. */
function watchRow(id: string): () => void {
  const links = rowLinks()
  const index = links.findIndex((link) => link.parentElement?.dataset["session"] === id)
  const link = links[index]
  const others = [...links.slice(index + 1), ...links.slice(0, Math.max(index, 0)).toReversed()]
  const look = (frames: number) => {
    if (link === undefined || frames === 0) return
    if (link.isConnected) requestAnimationFrame(() => look(frames - 1))
    else if (document.activeElement === document.body) others.find((other) => other.isConnected)?.focus()
  }
  return () => look(MAX_FRAMES)
}
