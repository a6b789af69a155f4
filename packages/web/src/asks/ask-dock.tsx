import type { Ask, Session } from "@signalbox/client"
import { useMemo, useRef, useState } from "react"
import { useNow } from "../app/clock.ts"
import { useCanOperate, useFleet, useMe } from "../app/hub-context.ts"
import { useIsPhone, useIsTall } from "../app/screen.tsx"
import { Button, IconButton } from "../design/button.tsx"
import { DownIcon, WholeIcon } from "../design/icons.tsx"
import { headingOf, openAsks, summaryOf } from "../fleet/ask-words.ts"
import { WAITS_FOR_SOMEONE } from "../fleet/session-status.tsx"
import { AskCard } from "./ask-card.tsx"
import { Expiry } from "./ask-heading.tsx"
import { OutcomeStrip } from "./ask-outcome.tsx"
import { AskSheet } from "./ask-sheet.tsx"
import { fitsPhone } from "./request-words.ts"
import { openSheet, StepButtons, useShownAsk } from "./shown-ask.tsx"

/** The session's open requests, between its transcript and the message field. They never take the focus. */
export function AskDock({ session }: { readonly session: Session }) {
  const { asks } = useFleet()
  const me = useMe()
  const open = useMemo(() => openAsks(asks, session.id), [asks, session.id])
  const [shown, show] = useState<string | undefined>(undefined)
  const [isSmall, setSmall] = useState(false)
  const isPhone = useIsPhone()
  const waits = useCanOperate() ? "Waiting for you" : WAITS_FOR_SOMEONE
  const isTall = useIsTall()
  const region = useRef<HTMLElement>(null)
  // A keyboard that comes up for a reason must not take the field away.
  const isInUse = region.current?.querySelector("[data-ask]")?.contains(document.activeElement) === true
  const { id, answered, pointer } = useShownAsk({ asks, open, me: me.name, shown, isLinked: false, show })
  const ask = id === undefined ? undefined : asks.get(id)
  const index = open.findIndex((one) => one.id === id)
  const step = (by: number) => show(open[(index + by + open.length) % open.length]?.id)
  return (
    <>
      {ask !== undefined && (
        <section
          ref={region}
          role="region"
          aria-label={waits}
          data-region="waiting"
          {...pointer}
          className="flex max-h-[55dvh] shrink-0 flex-col border-t-2 border-caution bg-surface"
        >
          <div className="mx-auto flex min-h-0 w-full max-w-4xl flex-col px-3 py-2 tablet:px-6">
            <div className="flex shrink-0 items-center gap-2 text-dense font-medium text-caution">
              <h2>{barWords(waits, open.length, index)}</h2>
              <span className="ms-auto flex">
                {open.length > 1 && <StepButtons onStep={step} />}
                <IconButton label="Full screen" onClick={() => openSheet(ask.id)} className="max-tablet:hidden">
                  <WholeIcon size={15} />
                </IconButton>
                <IconButton
                  label={isSmall ? "Show request" : "Minimise"}
                  aria-expanded={!isSmall}
                  onClick={() => setSmall(!isSmall)}
                  className="max-tablet:hidden"
                >
                  <DownIcon size={15} className={isSmall ? "rotate-180" : ""} />
                </IconButton>
              </span>
            </div>
            {isPhone && !(fitsPhone(ask) && (isTall || isInUse)) ? (
              <PhoneSummary ask={ask} />
            ) : isSmall && !isPhone ? (
              <p className="flex gap-2 text-meta">
                <bdi className="min-w-0 truncate font-mono text-text-2">{summaryOf(ask)}</bdi>
                <TimeLeft ask={ask} />
              </p>
            ) : (
              <div className="-mx-2 flex min-h-0 flex-col gap-2 overflow-y-auto px-2 pt-2 pb-1.5">
                <OutcomeStrip id={answered} />
                <AskCard key={ask.id} ask={ask} place={isPhone ? "phone" : "dock"} />
              </div>
            )}
          </div>
        </section>
      )}
      <AskSheet queue={open} />
    </>
  )
}

function barWords(waits: string, count: number, index: number): string {
  if (count === 0) return "Settled"
  if (count === 1) return waits
  return `${waits}, ${index === -1 ? count : `${index + 1} of ${count}`}`
}

function TimeLeft({ ask }: { readonly ask: Ask }) {
  const now = useNow()
  return (
    <span className="block shrink-0 text-meta">
      <Expiry ask={ask} now={now} />
    </span>
  )
}

/** On a phone there is no room here for a longer request, or for a form: it gets the screen. */
function PhoneSummary({ ask }: { readonly ask: Ask }) {
  const [heading, summary] = [headingOf(ask), summaryOf(ask)]
  return (
    <div className="flex items-center gap-3 pt-1">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{heading}</p>
        {summary !== heading && <bdi className="block truncate font-mono text-meta text-text-2">{summary}</bdi>}
        <TimeLeft ask={ask} />
      </div>
      <Button look="caution" data-region-focus onClick={() => openSheet(ask.id)} className="shrink-0 px-4!">
        Review
      </Button>
    </div>
  )
}
