import { useEffect, useMemo } from "react"
import { useCanOperate } from "../app/hub-context.ts"
import { navigate, setQuery, usePlace } from "../app/router.tsx"
import { useIsDesktop } from "../app/screen.tsx"
import { IconButton } from "../design/button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { INPUT } from "../design/field.tsx"
import { PlusIcon } from "../design/icons.tsx"
import { useStatusWords } from "../fleet/session-status.tsx"
import { useEntries } from "../sessions/entries.ts"
import { SessionList } from "../sessions/session-list.tsx"
import { matchesFilter } from "../sessions/session-sections.ts"

interface SideListProps {
  readonly currentId: string
  /** Set where there is no room for the list beside the session. */
  readonly isDrawerOpen: boolean
  readonly onClose: () => void
}

/** The other sessions: beside this one where there is room for them, in a drawer where there is little. */
export function SideList({ currentId, isDrawerOpen, onClose }: SideListProps) {
  const isDesktop = useIsDesktop()
  useEffect(() => {
    if (isDesktop) onClose()
  }, [isDesktop, onClose])
  return (
    <>
      {isDesktop && (
        <aside aria-label="Sessions" className="flex w-70 shrink-0 flex-col border-e border-line">
          <OtherSessions currentId={currentId} />
        </aside>
      )}
      <Dialog title="Sessions" look="drawer" open={isDrawerOpen && !isDesktop} onClose={onClose}>
        <OtherSessions currentId={currentId} />
      </Dialog>
    </>
  )
}

/** The filter goes along from one session to the next. */
function OtherSessions({ currentId }: { readonly currentId: string }) {
  const filter = usePlace().query.get("q") ?? ""
  const entries = useEntries({ archived: false })
  const words = useStatusWords()
  const shown = useMemo(() => entries.filter((entry) => matchesFilter(entry, filter, words)), [entries, filter, words])
  const canOperate = useCanOperate()
  return (
    <>
      <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1.5">
        <input
          type="search"
          aria-label="Filter sessions"
          placeholder="Filter sessions"
          value={filter}
          onChange={(event) => setQuery({ q: event.target.value })}
          className={INPUT}
        />
        {canOperate && (
          <IconButton label="New session" onClick={() => navigate("/new")}>
            <PlusIcon />
          </IconButton>
        )}
      </div>
      {shown.length === 0 && filter !== "" && (
        <p className="p-3 text-dense text-text-2">No sessions match “{filter}”.</p>
      )}
      <SessionList
        // A filtered list has all of its sections open.
        key={filter === "" ? "all" : "found"}
        entries={shown}
        grouping="status"
        filterKey={`side:${filter}`}
        compact
        currentId={currentId}
        search={filter === "" ? "" : `?${new URLSearchParams({ q: filter }).toString()}`}
      />
    </>
  )
}
