import type { Ask } from "@signalbox/client"
import { useCallback, useMemo, useState } from "react"
import { useFleet, useMe } from "../../app/hub-context.ts"
import { useKeys } from "../../app/keyboard.ts"
import { currentPlace, navigate, type ScreenProps, usePlace } from "../../app/router.tsx"
import { useScreenTitle } from "../../app/screen.tsx"
import { useIsDesktop } from "../../app/screen-room.ts"
import { classes } from "../../design/classes.ts"
import { openAsks } from "../../fleet/open-asks.ts"
import { focusCard } from "../answer/following-focus.ts"
import { AskSheet } from "../ask-sheet.tsx"
import { useShownAsk } from "../shown-ask.tsx"
import { AskDetail } from "./ask-detail.tsx"
import { AutoApproval } from "./auto-approval.tsx"
import { matchesWish, wishOf } from "./inbox.ts"
import { InboxList } from "./inbox-list.tsx"
import { useSettledAsks } from "./use-settled-asks.ts"

/** Every open request, the oldest first, and what became of those before. */
export function ApprovalsScreen({ params }: ScreenProps) {
  useScreenTitle("Approvals")
  const linked = params["id"]
  const { query } = usePlace()
  const tab = query.get("state") === "settled" ? "settled" : "open"
  const wish = useMemo(() => wishOf(query), [query])
  const { asks, sessions } = useFleet()
  const me = useMe()
  const open = useMemo(() => openAsks(asks), [asks])
  // The last decision is told where nothing waits.
  const settled = useSettledAsks(tab === "settled" || open.length === 0, asks)
  const all = tab === "settled" ? settled.all : open
  const list = useMemo(() => all.filter((ask) => matchesWish(ask, wish, sessions)), [all, wish, sessions])
  const waiting = useMemo(() => open.filter((ask) => matchesWish(ask, wish, sessions)), [open, wish, sessions])
  const isDesktop = useIsDesktop()

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
  const chosen = isLinked ? (tab === "settled" ? linked : shown.id) : isDesktop ? byItself : undefined
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
          "min-h-0 w-full shrink-0 flex-col border-e border-line desktop:w-90",
          isLinked ? "hidden desktop:flex" : "flex",
        )}
      >
        <AutoApproval />
        <InboxList
          tab={tab}
          wish={wish}
          all={all}
          list={list}
          openCount={open.length}
          settled={settled}
          chosen={chosen}
          hrefOf={hrefOf}
        />
      </div>
      {chosen === undefined ? (
        <div className="hidden flex-1 bg-surface desktop:block" />
      ) : (
        <AskDetail
          id={chosen}
          answered={shown.answered}
          pointer={shown.pointer}
          position={index === -1 ? undefined : { index, count: list.length }}
          onStep={go}
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
  return `/approvals/${encodeURIComponent(id)}${text === "" ? "" : `?${text}`}`
}

function hrefOf({ id }: Ask): string {
  return addressOf(id)
}
