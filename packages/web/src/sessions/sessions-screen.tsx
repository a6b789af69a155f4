import type { Session } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useCanOperate, useFleet, useHubStore } from "../app/hub-context.ts"
import type { HubStore } from "../app/hub-store.ts"
import { useKeys } from "../app/keyboard.ts"
import { navigate, setQuery, usePlace } from "../app/router.tsx"
import { ConnectionPlace, useScreenTitle } from "../app/screen.tsx"
import { useSelected } from "../app/value-store.ts"
import { Button, IconButton } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { INPUT, Select } from "../design/field.tsx"
import { BoardIcon, PlusIcon, SessionsIcon } from "../design/icons.tsx"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { Empty, Skeleton, Trouble } from "../design/notice.tsx"
import { plural } from "../design/words.ts"
import { useStatusWords } from "../fleet/session-status.tsx"
import { useEntries } from "./entries.ts"
import { FirstSteps } from "./first-steps.tsx"
import { clearSelection, selection } from "./selection.ts"
import { archive, useListKeys, useTrouble } from "./session-actions.ts"
import { SessionBoard, SessionList } from "./session-list.tsx"
import { ConfirmArchive } from "./session-menu.tsx"
import { matchesFilter } from "./session-sections.ts"

const SelectionBar = lazyPart(async () => (await import("./selection-bar.tsx")).SelectionBar)

const GROUPINGS = [
  { value: "status", label: "By status" },
  { value: "machine", label: "By machine" },
  { value: "folder", label: "By folder" },
] as const

export function SessionsScreen() {
  useScreenTitle("Sessions")
  const { query } = usePlace()
  const filter = query.get("q") ?? ""
  const grouping = GROUPINGS.find(({ value }) => value === query.get("group"))?.value ?? "status"
  const archived = query.get("archived") === "1"
  const isBoard = query.get("view") === "board"
  const View = isBoard ? SessionBoard : SessionList
  const canOperate = useCanOperate()
  const fleet = useFleet()
  const store = useHubStore()
  const entries = useEntries({ archived })
  const words = useStatusWords()
  const shown = useMemo(() => entries.filter((entry) => matchesFilter(entry, filter, words)), [entries, filter, words])
  const isEmpty = fleet.load.name === "ready" && fleet.sessions.size === 0
  const [trouble, forgetTrouble] = useTrouble()
  const [archiving, setArchiving] = useState<{ readonly session: Session; readonly isOpen: boolean } | undefined>()
  // The selection stays for as long as the list is looked at.
  useEffect(() => clearSelection, [])
  useKeys(
    useListKeys((id) => {
      const session = fleet.sessions.get(id)
      if (session === undefined || session.archived) return
      if (session.pendingAsks > 0) setArchiving({ session, isOpen: true })
      else archive(store, id, true)
    }),
  )

  return (
    <>
      <header className="shrink-0 border-b border-line">
        <div
          className={classes(
            "mx-auto flex min-h-12 flex-wrap items-center gap-2 px-4 py-2 tablet:px-6",
            isBoard ? "max-w-none" : "max-w-5xl",
          )}
        >
          <h1 className="text-page font-bold">Sessions</h1>
          {canOperate && (
            <Button
              look={isEmpty ? "plain" : "primary"}
              onClick={() => navigate("/new")}
              className="order-3 ms-auto tablet:order-last"
            >
              <PlusIcon size={16} />
              New session
            </Button>
          )}
          {!isEmpty && (
            <div className="order-last flex w-full min-w-0 gap-2 max-tablet:flex-wrap tablet:order-none tablet:ms-4 tablet:w-auto tablet:flex-1">
              <input
                type="search"
                aria-label="Filter sessions"
                placeholder="Filter"
                value={filter}
                onChange={(event) => setQuery({ q: event.target.value })}
                className={`${INPUT} min-w-0 tablet:max-w-72 ${isBoard ? "" : "max-tablet:min-w-30 max-tablet:flex-1"}`}
              />
              <ViewToggle isBoard={isBoard} />
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
          )}
        </div>
      </header>
      <ConnectionPlace />
      {trouble !== undefined && (
        <div className="p-2">
          <Trouble onDismiss={forgetTrouble}>{trouble}</Trouble>
        </div>
      )}
      {archiving !== undefined && (
        <ConfirmArchive
          session={archiving.session}
          open={archiving.isOpen}
          onClose={() => setArchiving({ ...archiving, isOpen: false })}
          onConfirm={() => archive(store, archiving.session.id, true)}
        />
      )}
      {fleet.load.name === "loading" && <Skeleton rows={8} />}
      {fleet.load.name === "failed" && (
        <div className="p-4">
          <Trouble onRetry={() => store.retry()}>Couldn't load sessions: {fleet.load.why}</Trouble>
        </div>
      )}
      {fleet.load.name === "ready" && shown.length === 0 && (
        <NothingToShow isAllArchived={fleet.sessions.size > 0} filter={filter} canOperate={canOperate} />
      )}
      {shown.length > 0 && (
        <div
          className="contents"
          onScrollCapture={fleet.more ? (event) => readOnAtEnd(event.target, store) : undefined}
        >
          <View entries={shown} grouping={grouping} filterKey={`${filter}:${archived}`} />
        </div>
      )}
      {canOperate && <Selecting />}
      {fleet.more && (
        <p className="flex shrink-0 items-center gap-2 border-t border-line px-4 py-1 text-meta text-text-3">
          Showing the newest {plural(fleet.sessions.size, "session")}.
          <Button onClick={() => void store.readOlder()}>Show older</Button>
        </p>
      )}
    </>
  )
}

/** Once sessions were selected the bar stays, so that it can tell what came of it. */
function Selecting() {
  const isSelecting = useSelected(selection, ({ ids }) => ids.size > 0)
  const [wasSelecting, setWas] = useState(isSelecting)
  if (isSelecting && !wasSelecting) setWas(true)
  if (!wasSelecting) return null
  return (
    <PartBoundary waiting={null}>
      <SelectionBar />
    </PartBoundary>
  )
}

/** Older sessions are read before the reader comes to the end of those that are here. */
function readOnAtEnd(scroller: EventTarget, store: HubStore): void {
  if (!(scroller instanceof HTMLElement)) return
  const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight
  if (left < 2 * scroller.clientHeight) void store.readOlder()
}

/** The same sessions, below each other or side by side. */
function ViewToggle({ isBoard }: { readonly isBoard: boolean }) {
  const views = [
    { name: "List", icon: <SessionsIcon size={16} />, isShown: !isBoard, view: null },
    { name: "Board", icon: <BoardIcon size={16} />, isShown: isBoard, view: "board" },
  ]
  return (
    // A phone has no room for columns, nor for the choice; who came to the board by its address finds the way back.
    <div role="group" aria-label="View" className={classes("flex shrink-0", !isBoard && "max-tablet:hidden")}>
      {views.map(({ name, icon, isShown, view }, index) => (
        <IconButton
          key={name}
          label={name}
          look="plain"
          aria-pressed={isShown}
          onClick={() => setQuery({ view })}
          className={classes(
            index === 0 ? "rounded-e-none!" : "rounded-s-none! border-s-0!",
            isShown && "bg-accent-soft! text-accent!",
          )}
        >
          {icon}
        </IconButton>
      ))}
    </div>
  )
}

interface NothingProps {
  readonly isAllArchived: boolean
  readonly filter: string
  readonly canOperate: boolean
}

function NothingToShow({ isAllArchived, filter, canOperate }: NothingProps) {
  if (filter !== "" || isAllArchived) {
    const [words, label, change] =
      filter === ""
        ? (["All sessions are archived.", "Show archived", { archived: "1" }] as const)
        : ([`No sessions match “${filter}”.`, "Show all", { q: null }] as const)
    return <Empty action={<Button onClick={() => setQuery(change)}>{label}</Button>}>{words}</Empty>
  }
  if (!canOperate) return <Empty>No sessions yet.</Empty>
  return <FirstSteps />
}
