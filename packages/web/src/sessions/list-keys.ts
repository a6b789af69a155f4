import { useHubStore } from "../app/hub-context.ts"
import type { KeyMap } from "../app/keyboard.ts"
import { rowLinks } from "./row-focus.ts"

function move(step: number): void {
  const all = rowLinks()
  const index = all.findIndex((link) => link === document.activeElement)
  const next = index === -1 ? 0 : Math.min(Math.max(index + step, 0), all.length - 1)
  all[next]?.focus()
  all[next]?.scrollIntoView({ block: "nearest" })
}

function chosen(): string | undefined {
  const row = document.activeElement?.closest<HTMLElement>("[data-session]")
  return row?.dataset["session"]
}

/** j and k go through the list; i and # act on the row that has the focus, never on another. */
export function useListKeys(onArchive: (id: string) => void): KeyMap {
  const store = useHubStore()
  const canOperate = store.me.get()?.role !== "viewer"
  return {
    j: () => move(1),
    k: () => move(-1),
    ...(canOperate
      ? {
          i: () => {
            const id = chosen()
            // What fails is told by the row's own state; keys have no other place to say it.
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
