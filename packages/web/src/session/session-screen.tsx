import { HubClientError } from "@signalbox/client"
import type { Row } from "@signalbox/transcript"
import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useNow } from "../app/clock.ts"
import { useCanOperate, useFleet, useHubStore, useSession } from "../app/hub-context.ts"
import { isEditable, useKeys } from "../app/keyboard.ts"
import { usePreferences } from "../app/preferences.ts"
import { navigate, type ScreenProps, setQuery, usePlace } from "../app/router.tsx"
import { ConnectionPlace, useCommands, useScreenTitle } from "../app/screen.tsx"
import { useValue } from "../app/value-store.ts"
import { Button, IconButton } from "../design/button.tsx"
import { PanelIcon } from "../design/icons.tsx"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { Empty, Skeleton } from "../design/notice.tsx"
import { openAsks } from "../fleet/ask-words.ts"
import { isDemo } from "../fleet/demo.ts"
import { statusOf } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { type SessionActions, useSessionActions } from "../sessions/session-actions.ts"
import { keptPlace, type ReadingPlace } from "../transcript/list/reading-place.ts"
import { type TranscriptHandle, TranscriptList } from "../transcript/list/transcript-list.tsx"
import { RowView } from "../transcript/rows/row-view.tsx"
import { createDisclosures, type Disclosures, TranscriptContext } from "../transcript/rows/transcript-context.tsx"
import { ForkedLog, type SessionAt } from "../transcript/window/forked-log.ts"
import { SessionFeed } from "../transcript/window/session-feed.ts"
import { ActivityLine, useTurnNews } from "./activity-line.tsx"
import { Composer } from "./composer/composer.tsx"
import { SessionHeader } from "./session-header.tsx"
import { SideList } from "./side-list.tsx"

const AHEAD = { isAhead: true }
const SessionPanels = lazyPart(async () => (await import("./panels/session-panels.tsx")).SessionPanels, AHEAD)
/** A session that asks nothing does without it: most of the time, all of the forms are not needed to read what was said. */
const AskDock = lazyPart(async () => (await import("../asks/ask-dock.tsx")).AskDock, AHEAD)
const LaneBreadcrumb = lazyPart(async () => (await import("../transcript/list/lane-view.tsx")).LaneBreadcrumb, AHEAD)
const DemoHint = lazyPart(async () => (await import("./demo-hint.tsx")).DemoHint)
const FindBar = lazyPart(async () => (await import("../search/find-bar.tsx")).FindBar)

export function SessionScreen({ params }: ScreenProps) {
  const id = params["id"] ?? ""
  const lane = usePlace().query.get("lane")
  const [isListOpen, setListOpen] = useState(false)
  const openList = useCallback(() => setListOpen(true), [])
  const closeList = useCallback(() => setListOpen(false), [])
  return (
    <div className="flex min-h-0 flex-1">
      <SideList currentId={id} isDrawerOpen={isListOpen} onClose={closeList} />
      <OneSession key={`${id}:${lane ?? ""}`} id={id} lane={lane} onList={openList} />
    </div>
  )
}

/** Rows stay opened and closed while one goes from session to session; those of the last few. */
const keptDisclosures = new Map<string, Disclosures>()
const MAX_KEPT = 20

function disclosuresOf(session: string): Disclosures {
  const kept = keptDisclosures.get(session) ?? createDisclosures()
  keptDisclosures.delete(session)
  keptDisclosures.set(session, kept)
  const [oldest] = keptDisclosures.keys()
  if (keptDisclosures.size > MAX_KEPT && oldest !== undefined) keptDisclosures.delete(oldest)
  return kept
}

function useFeed(id: string, lane: string | null, around: number | undefined) {
  const store = useHubStore()
  const { hub } = store
  const log = useMemo(() => {
    // A record that is known needs no asking for.
    const at: SessionAt = (session) => ({
      ...hub.session(session),
      get: async () => store.fleet.get().sessions.get(session) ?? (await hub.session(session).get()),
    })
    return new ForkedLog(id, at)
  }, [store, hub, id])
  const [feed, setFeed] = useState(() => new SessionFeed(log, lane))
  const start = useRef(around)
  useEffect(() => {
    // React may mount twice: a feed that was closed is not opened again.
    const opened = new SessionFeed(log, lane, () => {
      store.gaps.set(store.gaps.get() + 1)
      store.retry()
    })
    setFeed(opened)
    void opened.open(start.current)
    return () => opened.close()
  }, [store, log, lane])
  return { feed, log }
}

/** The event that is loaded first; undefined for the last ones. */
function startSeq(start: ReadingPlace | undefined, wanted: number): number | undefined {
  if (start !== undefined) return start.at === "row" ? start.seq : undefined
  return wanted > 0 ? wanted : undefined
}

const OWN_ENDS = '[data-region="waiting"],[data-region="panels"],[data-own-scroll],[role="slider"]'

/** In a field, a request, a panel or a long output Home and End go to the ends of that. */
function hasOwnEnds({ target }: KeyboardEvent): boolean {
  return isEditable(target) || (target instanceof Element && target.closest(OWN_ENDS) !== null)
}

interface OneSessionProps {
  readonly id: string
  readonly lane: string | null
  /** To see the others, where they are not in view. */
  readonly onList: () => void
}

function OneSession({ id, lane, onList }: OneSessionProps) {
  const session = useSession(id)
  const { asks, load } = useFleet()
  const { query, entry } = usePlace()
  const wanted = Number(query.get("seq") ?? "0")
  const [start] = useState(() => keptPlace({ entry, session: id, lane }))
  const { feed, log } = useFeed(id, lane, startSeq(start, wanted))
  const view = useValue(feed.view)
  const { detail } = usePreferences()
  const transcript = useRef<TranscriptHandle>(null)
  const [sent, setSent] = useState(0)
  const now = useNow()
  const disclosures = useMemo(() => disclosuresOf(id), [id])
  const context = useMemo(
    () => ({
      sessionId: id,
      feed,
      addressOf: (seq: number) => log.addressOf(seq),
      disclosures,
      detail,
      onRaw: (seq: number) => setQuery({ panel: "raw", event: String(seq) }, { push: true }),
      onLane: (toolUse: string) => {
        // One that is over is looked at where it ended; the end of the log may be far from there.
        const seq = feed.tool(toolUse)?.result?.seq
        setQuery({ lane: toolUse, seq: seq === undefined ? null : String(seq) }, { push: true })
      },
      onHold: () => transcript.current?.hold(),
      renderRow: (row: Row) => <RowView key={row.key} row={row} />,
    }),
    [id, feed, log, disclosures, detail],
  )

  // Messages are the agent's own, also while one of its lanes is read.
  const rowsOfAgent = useMemo(() => feed.laneRows(null), [feed, view])

  useScreenTitle(session === undefined ? "Session" : titleOf(session))
  useTurnNews(session)
  useEffect(() => {
    for (const ask of asks.values()) if (ask.sessionId === id) feed.takeAsk(ask)
  }, [asks, feed, id])
  useEffect(() => {
    if (session !== undefined) feed.takeSession(session)
  }, [feed, session])

  const [wasDemo] = useState(() => isDemo(id))
  // Kept from the first request on: the dock also says what became of one.
  const [hasDock, setDock] = useState(false)
  const isAsked = query.get("ask") !== null || openAsks(asks, id).length > 0
  if (isAsked && !hasDock) setDock(true)

  const isRunning = session?.state === "running" || session?.state === "waiting"
  const canOperate = useCanOperate()
  const actions = useRef<SessionActions | undefined>(undefined)
  actions.current = useSessionActions({ id, transport: session?.transport ?? null })
  const interrupt = useCallback(() => actions.current?.interrupt(), [])
  useKeys({
    ...(isRunning && canOperate ? { "mod+.": interrupt } : {}),
    "[": () => transcript.current?.turn(-1),
    "]": () => transcript.current?.turn(1),
    Home: (event) => (hasOwnEnds(event) ? "not-here" : transcript.current?.jumpToStart()),
    End: (event) => (hasOwnEnds(event) ? "not-here" : transcript.current?.jumpToEnd()),
  })
  useCommands(
    useMemo(
      () => [
        ...(isRunning && canOperate ? [{ name: "Interrupt this session", keys: "Ctrl/⌘ .", run: interrupt }] : []),
        { name: "Jump to latest", keys: "End", run: () => transcript.current?.jumpToEnd() },
      ],
      [isRunning, canOperate, interrupt],
    ),
  )

  if (view.load === "missing") return <NotFound />
  if (session === undefined) return load.name === "ready" ? <Unlisted id={id} /> : <Skeleton />
  const status = statusOf(session, { now, seenSeq: view.lastSeq })
  const panel = query.get("panel")
  return (
    <TranscriptContext.Provider value={context}>
      {/* At 400 % there is no height for all of it: then this scrolls, and nothing lies over anything. */}
      <div className="flex min-h-0 min-w-0 flex-1 flex-col [@media(max-height:379px)]:overflow-y-auto">
        <SessionHeader
          session={session}
          status={status}
          onList={onList}
          trailing={
            <IconButton
              label="Panels"
              aria-pressed={panel !== null}
              onClick={() => setQuery({ panel: panel === null ? "changes" : null }, { push: panel === null })}
            >
              <PanelIcon />
            </IconButton>
          }
        />
        <ConnectionPlace />
        {query.get("find") !== null && (
          <PartBoundary waiting={null}>
            <FindBar session={id} text={query.get("find") ?? ""} seq={wanted} />
          </PartBoundary>
        )}
        {lane !== null && (
          <PartBoundary waiting={<div className="h-10 border-b border-line bg-sunken" />}>
            <LaneBreadcrumb lane={lane} />
          </PartBoundary>
        )}
        {view.load === "loading" && view.trouble === undefined ? (
          <div className="min-h-0 flex-1">
            <Skeleton rows={8} />
          </div>
        ) : (
          <TranscriptList
            feed={feed}
            view={view}
            handle={transcript}
            goTo={wanted}
            start={start}
            lane={lane}
            sent={sent}
            footer={
              <ActivityLine session={session} status={status} isCompacting={view.isCompacting} rows={rowsOfAgent} />
            }
          />
        )}
        {wasDemo && (
          <PartBoundary waiting={null} frame={() => null}>
            <DemoHint session={session} />
          </PartBoundary>
        )}
        {hasDock && (
          <PartBoundary waiting={null}>
            <AskDock session={session} />
          </PartBoundary>
        )}
        <Composer
          session={session}
          feed={feed}
          rows={rowsOfAgent}
          queued={view.waiting}
          onSent={() => setSent((count) => count + 1)}
        />
      </div>
      {panel !== null && (
        <PartBoundary waiting={null}>
          <SessionPanels panel={panel} session={session} feed={feed} />
        </PartBoundary>
      )}
    </TranscriptContext.Provider>
  )
}

/** Older than the list reaches: asked for by itself. */
function Unlisted({ id }: { readonly id: string }) {
  const store = useHubStore()
  const [trouble, setTrouble] = useState<unknown>(undefined)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    store.hub
      .session(id)
      .get()
      .then((session) => store.takeSession(session), setTrouble)
  }, [store, id, tries])
  if (trouble === undefined) return <Skeleton />
  if (trouble instanceof HubClientError && trouble.status === 404) return <NotFound />
  return <Empty action={<Button onClick={() => setTries(tries + 1)}>Retry</Button>}>Couldn't load the session.</Empty>
}

function NotFound() {
  return (
    <Empty action={<Button onClick={() => navigate("/sessions")}>Go to sessions</Button>}>Session not found.</Empty>
  )
}
