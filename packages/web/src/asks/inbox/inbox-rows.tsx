import type { Ask } from "@signalbox/client"
import { useNow } from "../../app/clock.ts"
import { useMe, useSession } from "../../app/hub-context.ts"
import { Link } from "../../app/router.tsx"
import { classes } from "../../design/classes.ts"
import { lazyPart, PartBoundary } from "../../design/lazy-part.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { Windowed } from "../../design/windowed.tsx"
import { age } from "../../design/words.ts"
import { agentWords, isCommand, MAIN_AGENT, outcomeVerb, summaryOf } from "../../fleet/ask-words.ts"
import { MachineName } from "../../fleet/machine-store.tsx"
import { titleOf } from "../../fleet/session-words.ts"
import { Expiry } from "../ask-heading.tsx"
import { useIsGood } from "../ask-outcome.tsx"
import { NotChecked } from "../ask-why.tsx"
import { reasonsOf, receiptWords, verdictReason } from "../request-words.ts"
import { groupBySession, receiptsOf } from "./inbox.ts"
import { useTurn } from "./turns.ts"

interface RowsProps {
  readonly label: string
  readonly asks: readonly Ask[]
  readonly chosen: string | undefined
  readonly hrefOf: (ask: Ask) => string
}

/** Rows, and sessions, of one piece; about the height of each. */
const PIECE = 25
const ROW_PX = 52
const HEADING_PX = 40

/** However many there are, those in view are in the document, and the one that was chosen. */
export function Rows({ label, asks, chosen, hrefOf }: RowsProps) {
  if (asks.length === 0) return null
  return (
    <Windowed
      count={Math.ceil(asks.length / PIECE)}
      heightOf={(index) => pieceOf(asks, index).length * ROW_PX}
      content={asks.length}
      kept={Math.floor(asks.findIndex(({ id }) => id === chosen) / PIECE)}
    >
      {(index) => (
        <ul aria-label={label}>
          {pieceOf(asks, index).map((ask) => (
            <InboxRow key={ask.id} ask={ask} isChosen={ask.id === chosen} href={hrefOf(ask)} />
          ))}
        </ul>
      )}
    </Windowed>
  )
}

function pieceOf<T>(all: readonly T[], index: number): readonly T[] {
  return all.slice(index * PIECE, (index + 1) * PIECE)
}

/** The open requests by session. */
export function SessionGroups({ asks: all, chosen, hrefOf }: Omit<RowsProps, "label">) {
  const groups = groupBySession(all)
  return (
    <Windowed
      count={Math.ceil(groups.length / PIECE)}
      heightOf={(index) => pieceOf(groups, index).reduce((sum, { asks }) => sum + HEADING_PX + asks.length * ROW_PX, 0)}
      content={all.length}
      kept={Math.floor(groups.findIndex(({ asks }) => asks.some(({ id }) => id === chosen)) / PIECE)}
    >
      {(index) =>
        pieceOf(groups, index).map(({ session, asks }) => (
          <SessionGroup key={session} session={session} asks={asks} chosen={chosen} hrefOf={hrefOf} />
        ))
      }
    </Windowed>
  )
}

interface SessionGroupProps extends Omit<RowsProps, "label"> {
  readonly session: string
}

/** The open requests of one session. */
function SessionGroup({ session: id, asks, ...rest }: SessionGroupProps) {
  const session = useSession(id)
  const title = session === undefined ? `Session ${id.slice(0, 8)}` : titleOf(session)
  return (
    <section aria-label={title} className="pb-2">
      <h2 className="flex min-w-0 items-baseline gap-2 px-3 pt-2 pb-0.5 text-dense">
        <bdi className="min-w-0 truncate font-medium">{title}</bdi>
        {session !== undefined && (
          <span className="max-w-28 shrink-0 truncate text-meta text-text-3">
            <MachineName session={session} />
          </span>
        )}
        {asks.length > 1 && <span className="ms-auto shrink-0 text-meta text-text-3 tabular-nums">{asks.length}</span>}
      </h2>
      <Rows label={`Open requests, ${title}`} asks={asks} {...rest} />
    </section>
  )
}

/** More are a list of their own, and one touch away. */
const RECEIPTS = 5

/** Requests that people answered lately, each with its record: who, what and when. */
export function Receipts({ settled }: { readonly settled: readonly Ask[] }) {
  const now = useNow()
  const receipts = receiptsOf(settled, now)
  if (receipts.length === 0) return null
  const more = receipts.length - RECEIPTS
  return (
    <section aria-label="Just answered" className="mt-2 border-t border-line pt-1">
      <h2 className="px-3 pt-2 pb-1 text-dense font-medium text-text-2">Just answered</h2>
      <ul aria-label="Just answered">
        {receipts.slice(0, RECEIPTS).map((ask) => (
          <Receipt key={ask.id} ask={ask} />
        ))}
        {more > 0 && (
          <li data-inbox-row="">
            <Link
              href="/requests?state=settled"
              className="flex min-h-9 items-center rounded-control px-3 text-dense text-accent hover:bg-sunken coarse:min-h-11"
            >
              Show {more} more
            </Link>
          </li>
        )}
      </ul>
    </section>
  )
}

function Receipt({ ask }: { readonly ask: Ask }) {
  const me = useMe()
  const isGood = useIsGood(ask)
  return (
    <li data-inbox-row="">
      <Link
        href={`/requests/${encodeURIComponent(ask.id)}?state=settled`}
        className="flex flex-col rounded-control px-3 py-1.5 text-meta text-text-2 hover:bg-sunken"
      >
        <bdi className={classes("min-w-0 truncate", isCommand(ask) && "font-mono")}>{summaryOf(ask)}</bdi>
        <span className={isGood ? "text-clear" : "text-text-3"}>{receiptWords(ask, me.name)}</span>
      </Link>
    </li>
  )
}

function InboxRow({ ask, isChosen, href }: { readonly ask: Ask; readonly isChosen: boolean; readonly href: string }) {
  const now = useNow()
  const isOpen = ask.state === "pending"
  return (
    <li data-inbox-row="">
      <Link
        href={href}
        aria-current={isChosen ? "true" : undefined}
        className={classes(
          "flex flex-col gap-0.5 rounded-control px-3 py-1.5",
          isChosen ? "bg-accent-soft" : "hover:bg-sunken",
        )}
      >
        <span className="flex items-baseline gap-2">
          <bdi className={classes("min-w-0 flex-1 truncate", isCommand(ask) ? "font-mono text-meta" : "text-dense")}>
            {summaryOf(ask)}
          </bdi>
          <span className="shrink-0 text-meta text-text-3 tabular-nums">
            {age(Date.parse((isOpen ? undefined : ask.settledAt) ?? ask.askedAt), now)}
          </span>
        </span>
        {isOpen ? <WhyLine ask={ask} now={now} /> : <SettledLine ask={ask} />}
      </Link>
    </li>
  )
}

/** Reading a command takes a parser: the rows are there before it is. */
const RiskKinds = lazyPart(async () => (await import("../risk-cues.tsx")).RiskKinds)

/** Fewer characters are judged in a few milliseconds. */
const QUICK_CHARS = 200

/** A list or an object may hold anything. */
function isQuick(input: Ask["input"] = {}): boolean {
  const sizeOf = (value: unknown) =>
    typeof value === "string" ? value.length : typeof value === "object" ? QUICK_CHARS : 0
  return Object.values(input).reduce<number>((sum, value) => sum + sizeOf(value), 0) < QUICK_CHARS
}

/** Judging a long command may take a tenth of a second: such rows are judged one at a time. */
function RowCues({ ask }: { readonly ask: Ask }) {
  const isUp = useTurn(isQuick(ask.input))
  if (!isUp) return null
  return (
    <PartBoundary waiting={null} frame={() => <NotChecked />}>
      <RiskKinds ask={ask} />
    </PartBoundary>
  )
}

/** Tells what to look at twice, why it is asked, which sub-agent asks, and until when it can be answered. Nothing of it, no line. */
function WhyLine({ ask, now }: { readonly ask: Ask; readonly now: number }) {
  const session = useSession(ask.sessionId)
  const [reason] = reasonsOf(ask, session?.cwd ?? null)
  const why = verdictReason(ask) ?? reason
  const agent = agentWords(ask)
  const words = [agent === MAIN_AGENT ? "" : agent, why ?? ""].filter((part) => part !== "").join(" · ")
  return (
    <span className="flex gap-x-2 text-meta text-text-3 empty:hidden">
      {ask.kind === "tool" && <RowCues ask={ask} />}
      {words !== "" && <bdi className="min-w-0 truncate">{oneLine(words, 200)}</bdi>}
      {ask.expiresAt !== undefined && (
        <span className="ms-auto shrink-0">
          <Expiry ask={ask} now={now} />
        </span>
      )}
    </span>
  )
}

function SettledLine({ ask }: { readonly ask: Ask }) {
  const session = useSession(ask.sessionId)
  return (
    <span className="flex gap-x-2 text-meta text-text-3">
      <span className="min-w-0 truncate">
        {session === undefined ? (
          ask.sessionId.slice(0, 8)
        ) : (
          <>
            <bdi>{titleOf(session)}</bdi> · <MachineName session={session} />
          </>
        )}
        {agentWords(ask) !== MAIN_AGENT && ` · ${agentWords(ask)}`}
      </span>
      <span className="ms-auto shrink-0 text-text-2">{outcomeVerb(ask)}</span>
    </span>
  )
}
