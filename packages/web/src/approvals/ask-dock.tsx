import type { Ask, Session } from "@signalbox/client"
import { useEffect, useMemo, useRef, useState } from "react"
import { useFleet } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { IconButton } from "../design/button.tsx"
import { BackIcon, DownIcon, NextIcon } from "../design/icons.tsx"
import { AskCard } from "./ask-card.tsx"
import { headingOf, summaryOf } from "./ask-words.ts"
import { openAsks } from "./open-asks.ts"

/** How long an outcome stays where its question was. */
const OUTCOME_MS = 6000

/** What this session asks, between what it said and what one says to it. It never takes the focus. */
export function AskDock({ session }: { readonly session: Session }) {
  const { asks } = useFleet()
  const open = useMemo(() => openAsks(asks, session.id), [asks, session.id])
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const [isSmall, setSmall] = useState(false)
  const shown = useShown(asks, open, chosen)
  if (shown === undefined) return null
  const index = open.findIndex(({ id }) => id === shown.id)
  const count = open.length
  const step = (by: number) => setChosen(open[(index + by + count) % count]?.id)
  return (
    <section
      role="region"
      aria-label="Waiting for you"
      data-region="waiting"
      className="flex max-h-[55dvh] shrink-0 flex-col border-t-2 border-caution bg-surface"
    >
      <div className="mx-auto flex min-h-0 w-full max-w-4xl flex-col px-3 py-2 tablet:px-6">
        <div className="flex items-center gap-2 text-dense font-medium text-caution">
          <h2>
            Waiting for you{count > 1 && index !== -1 ? `, ${index + 1} of ${count}` : count > 1 ? `, ${count}` : ""}
          </h2>
          <span className="ms-auto flex">
            {count > 1 && (
              <>
                <IconButton label="Previous request" onClick={() => step(-1)}>
                  <BackIcon size={15} />
                </IconButton>
                <IconButton label="Next request" onClick={() => step(1)}>
                  <NextIcon size={15} />
                </IconButton>
              </>
            )}
            <IconButton
              label={isSmall ? "Show the request" : "Minimise"}
              aria-expanded={!isSmall}
              onClick={() => setSmall(!isSmall)}
              className="max-tablet:hidden"
            >
              <DownIcon size={15} className={isSmall ? "rotate-180" : ""} />
            </IconButton>
          </span>
        </div>
        {isSmall ? (
          <p className="truncate font-mono text-meta text-text-2">{summaryOf(shown)}</p>
        ) : (
          <>
            <div className="hidden min-h-0 flex-col overflow-y-auto pt-1 tablet:flex">
              <AskCard key={shown.id} ask={shown} />
            </div>
            <PhoneSummary ask={shown} />
          </>
        )}
      </div>
    </section>
  )
}

/** On a phone there is no room to decide here: the request has a page of its own. */
function PhoneSummary({ ask }: { readonly ask: Ask }) {
  return (
    <div className="flex items-center gap-3 pt-1 tablet:hidden">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{headingOf(ask)}</p>
        <p className="truncate font-mono text-meta text-text-2">{summaryOf(ask)}</p>
      </div>
      <Link
        href={`/approvals/${ask.id}`}
        className="flex min-h-11 shrink-0 items-center rounded-control bg-caution-solid px-4 font-medium text-on-caution"
      >
        Review
      </Link>
    </div>
  )
}

/** The one that was chosen, else the oldest; one that was just settled stays for a moment, to be read. */
function useShown(asks: ReadonlyMap<string, Ask>, open: readonly Ask[], chosen: string | undefined): Ask | undefined {
  const last = useRef<string | undefined>(undefined)
  const [expired, setExpired] = useState<string | undefined>(undefined)
  const before = last.current === undefined ? undefined : asks.get(last.current)
  const picked = open.find(({ id }) => id === chosen)
  const hasOutcome = before !== undefined && before.state !== "pending" && expired !== before.id
  const shown = picked ?? (hasOutcome ? before : open[0])
  const lingering = hasOutcome ? before.id : undefined
  useEffect(() => {
    if (lingering === undefined) return undefined
    const timer = setTimeout(() => setExpired(lingering), OUTCOME_MS)
    return () => clearTimeout(timer)
  }, [lingering])
  if (shown?.state === "pending") last.current = shown.id
  return shown
}
