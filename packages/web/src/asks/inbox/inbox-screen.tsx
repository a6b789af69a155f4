import { useCallback, useEffect, useMemo, useState } from "react"
import { useConnection, useFleet, useHub, useMe } from "../../app/hub-context.ts"
import { useKeys } from "../../app/keyboard.ts"
import { currentPlace, navigate, type ScreenProps, usePlace } from "../../app/router.tsx"
import { useRoving } from "../../app/roving.ts"
import { useIsPhone, useScreenTitle } from "../../app/screen.tsx"
import { classes } from "../../design/classes.ts"
import { BackIcon } from "../../design/icons.tsx"
import { Notice } from "../../design/notice.tsx"
import { openAsks } from "../../fleet/ask-words.ts"
import { focusCard } from "../answer/following-focus.ts"
import { AskCard } from "../ask-card.tsx"
import { OutcomeStrip } from "../ask-outcome.tsx"
import { AskSheet } from "../ask-sheet.tsx"
import { AbsentAsk, type Lingering, StepButtons, useFoundAsk, useShownAsk } from "../shown-ask.tsx"
import { groupBySession, matchesWish, wishOf } from "./inbox.ts"
import { InboxList, useSettledAsks } from "./inbox-list.tsx"

/** Every open request, the oldest first, and what became of those before. */
export function InboxScreen({ params }: ScreenProps) {
  useScreenTitle("Requests")
  const linked = params["id"]
  const { query } = usePlace()
  const tab = query.get("state") === "settled" ? "settled" : "open"
  const wish = useMemo(() => wishOf(query), [query])
  const { asks, sessions } = useFleet()
  const me = useMe()
  const open = useMemo(() => openAsks(asks), [asks])
  // Below the open ones, what was answered lately stands also after a reload.
  const settled = useSettledAsks(asks)
  const all = tab === "settled" ? settled.all : open
  // By session, as they are shown: what follows in the list follows after an answer, too.
  const waiting = useMemo(
    () => groupBySession(open.filter((ask) => matchesWish(ask, wish, sessions))).flatMap(({ asks }) => asks),
    [open, wish, sessions],
  )
  const list = useMemo(
    () => (tab === "settled" ? settled.all.filter((ask) => matchesWish(ask, wish, sessions)) : waiting),
    [tab, settled.all, waiting, wish, sessions],
  )
  const isTwoPane = !useIsPhone()
  const roving = useRoving("[data-inbox-row]")

  const [first, setFirst] = useState<string | undefined>(undefined)
  const isLinked = linked !== undefined
  const show = useCallback(
    (id: string | undefined) => {
      if (!isLinked) setFirst(id)
      else if (id !== undefined) navigate(addressOf(id), { replace: true })
    },
    [isLinked],
  )
  const shown = useShownAsk({ asks, open: waiting, me: me.name, shown: linked ?? first, isLinked, show })
  const byItself = tab === "settled" ? list[0]?.id : shown.id
  const chosen = isLinked ? (tab === "settled" ? linked : shown.id) : isTwoPane ? byItself : undefined
  const index = list.findIndex(({ id }) => id === chosen)
  const go = (by: number) => {
    const next = list[Math.min(Math.max(index + by, 0), list.length - 1)]
    if (next !== undefined) navigate(addressOf(next.id), { replace: isLinked })
  }
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    Enter: () => {
      // On a link or a button it is theirs.
      if (document.activeElement !== document.body && document.activeElement?.id !== "main") return "not-here"
      if (chosen !== undefined) focusCard(chosen)
      return undefined
    },
  })
  return (
    <div className="flex min-h-0 flex-1">
      <div
        className={classes(
          "min-h-0 shrink-0 flex-col border-e border-line",
          isTwoPane ? "flex w-72 desktop:w-90" : isLinked ? "hidden" : "flex w-full",
        )}
      >
        <RelayNotice />
        <InboxList
          tab={tab}
          wish={wish}
          all={all}
          list={list}
          openCount={open.length}
          settled={settled}
          chosen={chosen}
          hrefOf={({ id }) => addressOf(id)}
          listRef={roving.ref}
        />
      </div>
      {chosen === undefined ? (
        isTwoPane && <div className="flex-1 bg-surface" />
      ) : (
        <AskDetail
          id={chosen}
          answered={shown.answered}
          pointer={shown.pointer}
          position={index === -1 ? undefined : { index, count: list.length }}
          onStep={go}
          isAlone={!isTwoPane}
        />
      )}
      <AskSheet queue={waiting} />
    </div>
  )
}

/** One request, with the tab and the filters as they are. */
function addressOf(id: string): string {
  const kept = new URLSearchParams(currentPlace().query)
  kept.delete("ask")
  const text = kept.toString()
  return `/requests/${encodeURIComponent(id)}${text === "" ? "" : `?${text}`}`
}

interface AskDetailProps {
  readonly id: string
  /** The one before, answered a moment ago. */
  readonly answered: string | undefined
  readonly pointer: Lingering["pointer"]
  readonly position: { readonly index: number; readonly count: number } | undefined
  readonly onStep: (by: number) => void
  /** Without the list beside it. */
  readonly isAlone: boolean
}

/** The request that was chosen in the inbox. */
function AskDetail({ id, answered, pointer, position, onStep, isAlone }: AskDetailProps) {
  const found = useFoundAsk(id)
  return (
    <section
      aria-label="Request"
      data-region="waiting"
      {...pointer}
      className="flex min-h-0 min-w-0 flex-1 flex-col bg-surface"
    >
      {/* Beside the list, the list has it. */}
      {isAlone && <h1 className="sr-only">Requests</h1>}
      <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1">
        {isAlone && (
          <button
            type="button"
            onClick={() => (history.length > 1 ? history.back() : navigate("/requests"))}
            className="flex min-h-11 items-center gap-1 rounded-control px-2 text-text-2"
          >
            <BackIcon /> Back
          </button>
        )}
        {position !== undefined && (
          <span className="ms-auto flex items-center gap-1 text-meta text-text-3 tabular-nums">
            {position.index + 1} of {position.count}
            <StepButtons
              onStep={onStep}
              isFirst={position.index === 0}
              isLast={position.index === position.count - 1}
            />
          </span>
        )}
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-2 overflow-y-auto px-4 py-3 tablet:px-6">
        <OutcomeStrip id={answered} />
        {found.name === "found" ? <AskCard key={id} ask={found.ask} place="page" /> : <AbsentAsk found={found} />}
      </div>
    </section>
  )
}

/** A policy that allows tools without asking anybody is told to those who look for open requests. */
function RelayNotice() {
  const hub = useHub()
  const isLive = useConnection().name === "live"
  const [isOn, setOn] = useState(false)
  useEffect(() => {
    if (!isLive) return
    hub.policy().then(
      ({ relayAutoApproval }) => setOn(relayAutoApproval),
      () => undefined,
    )
  }, [hub, isLive])
  if (!isOn) return null
  return (
    <Notice tone="caution">Plain relay sessions allow every tool automatically (policy: relayAutoApproval).</Notice>
  )
}
