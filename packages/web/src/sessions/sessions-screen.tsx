import { useMemo } from "react"
import { useCanOperate, useFleet, useHubStore } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { navigate, setQuery, usePlace } from "../app/router.ts"
import { useScreenTitle } from "../app/screen-title.ts"
import { useKeys } from "../app/shortcuts.ts"
import { Button } from "../design/button.tsx"
import { INPUT, Select } from "../design/field.tsx"
import { PlusIcon } from "../design/icons.tsx"
import { Empty, Notice, Skeleton } from "../design/notice.tsx"
import { plural } from "../design/words.ts"
import { useListKeys } from "./list-keys.ts"
import { useTrouble } from "./session-actions.ts"
import { SessionList } from "./session-list.tsx"
import { type Grouping, matchesFilter } from "./session-sections.ts"
import { useEntries } from "./use-entries.ts"

const GROUPINGS = [
  { value: "status", label: "By status" },
  { value: "machine", label: "By machine" },
  { value: "folder", label: "By folder" },
] as const

function groupingOf(value: string | null): Grouping {
  return GROUPINGS.find((grouping) => grouping.value === value)?.value ?? "status"
}

export function SessionsScreen() {
  useScreenTitle("Sessions")
  const { query } = usePlace()
  const filter = query.get("q") ?? ""
  const grouping = groupingOf(query.get("group"))
  const archived = query.get("archived") === "1"
  const canOperate = useCanOperate()
  const fleet = useFleet()
  const store = useHubStore()
  const entries = useEntries({ archived })
  const shown = useMemo(() => entries.filter((entry) => matchesFilter(entry, filter)), [entries, filter])
  const [trouble, forgetTrouble] = useTrouble()
  useKeys(useListKeys())

  return (
    <>
      <header className="shrink-0 border-b border-line">
        <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-2 px-3 py-2 tablet:px-6">
          <h1 className="text-page font-bold">Sessions</h1>
          {canOperate && (
            <Button look="primary" onClick={() => navigate("/new")} className="order-3 ms-auto tablet:order-last">
              <PlusIcon size={16} />
              New session
            </Button>
          )}
          <div className="order-last flex w-full min-w-0 gap-2 tablet:order-none tablet:ms-4 tablet:w-auto tablet:flex-1">
            <input
              type="search"
              aria-label="Filter sessions"
              placeholder="Filter"
              value={filter}
              onChange={(event) => setQuery({ q: event.target.value })}
              className={`${INPUT} min-w-0 tablet:max-w-72`}
            />
            <Select
              aria-label="Group"
              value={grouping}
              choices={GROUPINGS}
              onChange={(event) => setQuery({ group: event.target.value === "status" ? null : event.target.value })}
            />
            <label className="flex shrink-0 items-center gap-1.5 text-dense text-text-2">
              <input
                type="checkbox"
                checked={archived}
                onChange={() => setQuery({ archived: archived ? null : "1" })}
                className="size-4"
              />
              Archived
            </label>
          </div>
        </div>
      </header>
      {trouble !== undefined && (
        <div className="p-2">
          <Notice tone="danger" alert>
            {trouble}
            <Button onClick={forgetTrouble} className="ms-auto">
              Dismiss
            </Button>
          </Notice>
        </div>
      )}
      {fleet.load.name === "loading" && <Skeleton rows={8} />}
      {fleet.load.name === "failed" && (
        <div className="p-4">
          <Notice tone="danger" alert>
            The sessions could not be loaded: {fleet.load.why}
            <Button onClick={() => store.retry()}>Retry</Button>
          </Notice>
        </div>
      )}
      {fleet.load.name === "ready" && shown.length === 0 && (
        <NothingToShow hasSessions={entries.length > 0} filter={filter} canOperate={canOperate} />
      )}
      {shown.length > 0 && <SessionList entries={shown} grouping={grouping} filterKey={`${filter}:${archived}`} />}
      {fleet.more && (
        <p className="shrink-0 border-t border-line px-4 py-1 text-meta text-text-3">
          The newest {plural(fleet.sessions.size, "session")} are shown.
        </p>
      )}
    </>
  )
}

function NothingToShow({
  hasSessions,
  filter,
  canOperate,
}: {
  readonly hasSessions: boolean
  readonly filter: string
  readonly canOperate: boolean
}) {
  if (filter !== "")
    return (
      <Empty action={<Button onClick={() => setQuery({ q: null })}>Show all</Button>}>
        No session matches “{filter}”.
      </Empty>
    )
  if (hasSessions || !canOperate) return <Empty>There are no sessions here yet.</Empty>
  return (
    <Empty
      action={
        <Link href="/new" className="rounded-control bg-accent px-3 py-1.5 font-medium text-on-accent">
          Start a session
        </Link>
      }
    >
      No agent has been here yet. Start one, or bring one that runs elsewhere.
    </Empty>
  )
}
