import { type Ask, HubClientError } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { type RefCallback, useCallback, useContext, useLayoutEffect, useRef, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { hubNow, useNow } from "../app/clock.ts"
import { useCanOperate, useConnection, useHubStore, useMe, useSession } from "../app/hub-context.ts"
import type { HubStore } from "../app/hub-store.ts"
import { Link } from "../app/router.tsx"
import { useSelected } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { age } from "../design/words.ts"
import { agentWords, headingOf, MAIN_AGENT } from "../fleet/ask-words.ts"
import { MachineName, useMachineHome } from "../fleet/machine-store.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { VerdictWords } from "../fleet/why.tsx"
import { agentName } from "../transcript/rows/lane.tsx"
import { TranscriptContext } from "../transcript/rows/transcript-context.tsx"
import type { SessionFeed } from "../transcript/window/session-feed.ts"
import { focusCard } from "./answer/following-focus.ts"
import { fourEyesWords, reasonsOf, settledWords, timeLeft, verdictReason, waitWords } from "./request-words.ts"
import { openSheet } from "./shown-ask.tsx"

const LINK = "inline-flex min-h-6 items-center underline coarse:min-h-11 coarse:min-w-11"

/** The question, who asks it, where, since when and until when. Away from its session the heading names that too. */
export function AskHeading({ ask, showSession }: { readonly ask: Ask; readonly showSession: boolean }) {
  const now = useNow()
  const session = useSession(ask.sessionId)
  const isAdmin = useMe().role === "admin"
  const settled = settledWords(ask, now)
  const place = `/s/${encodeURIComponent(ask.sessionId)}?seq=${ask.seq}`
  return (
    <div className="flex shrink-0 flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <h3 className="text-prose font-bold">
        <bdi>{headingOf(ask)}</bdi>
      </h3>
      <p className="flex flex-wrap items-center gap-x-2 text-meta text-text-3">
        {showSession && session !== undefined && (
          <Link href={place} className={LINK}>
            <bdi>{titleOf(session)}</bdi>
          </Link>
        )}
        {session !== undefined && <MachineName session={session} />}
        <AskAgent ask={ask} />
        <span className="tabular-nums">asked {age(Date.parse(ask.askedAt), now)} ago</span>
        <Expiry ask={ask} now={now} />
        <MoreTime ask={ask} />
        {settled !== undefined && (
          <time dateTime={ask.settledAt} className="tabular-nums">
            {settled}
          </time>
        )}
      </p>
      <p className="ms-auto flex flex-wrap items-center gap-x-3 text-meta text-text-2 empty:hidden">
        {(!showSession || session === undefined) && (
          <Link href={place} className={LINK}>
            Show in transcript
          </Link>
        )}
        {isAdmin && ask.kind === "tool" && (
          <Link href={`/policy/edit?ask=${encodeURIComponent(ask.id)}`} className={LINK}>
            Make this a rule…
          </Link>
        )}
      </p>
    </div>
  )
}

/** On a phone, below the transcript: the question, and the way to everything about it. */
export function BriefHeading({ ask }: { readonly ask: Ask }) {
  const now = useNow()
  return (
    <div className="flex shrink-0 items-center gap-2">
      <h3 className="min-w-0 flex-1 truncate text-prose font-bold">
        <bdi>{headingOf(ask)}</bdi>
      </h3>
      <span className="shrink-0 text-meta">
        <Expiry ask={ask} now={now} />
      </span>
      <Button look="quiet" onClick={() => openSheet(ask.id)}>
        Details
      </Button>
    </div>
  )
}

/** How long it can still be answered, of those that end by themselves. */
export function Expiry({ ask, now }: { readonly ask: Ask; readonly now: number }) {
  if (ask.expiresAt === undefined || ask.state !== "pending") return null
  return (
    <span className="font-medium text-caution tabular-nums">expires {timeLeft(Date.parse(ask.expiresAt) - now)}</span>
  )
}

type Asking =
  | { readonly name: "ready" }
  | { readonly name: "sending" }
  /** Until when it was to be, and why it was not put off. */
  | { readonly name: "failed"; readonly until: string; readonly why: string }

/** Beside the time that is left: as much again. Only where the rule allows it still. */
function MoreTime({ ask }: { readonly ask: Ask }) {
  const store = useHubStore()
  const canOperate = useCanOperate()
  const isLive = useConnection().name === "live"
  const [asking, setAsking] = useState<Asking>({ name: "ready" })
  const { expiresAt, extension } = ask
  const isSpent = ask.state === "pending" && extension?.left === 0 && asking.name === "ready"
  const button = useFocusOnCardWhen(isSpent, ask.id)
  if (!canOperate || ask.state !== "pending" || expiresAt === undefined || extension === undefined) return null
  if (isSpent) return null
  const canAct = isLive && asking.name !== "sending" && extension.left > 0
  const extend = async () => {
    if (!canAct) return
    setAsking({ name: "sending" })
    const why = await moreTime(store, ask.id, expiresAt)
    setAsking(why === undefined ? { name: "ready" } : { name: "failed", until: expiresAt, why })
  }
  return (
    <>
      <Button
        ref={button}
        aria-disabled={!canAct}
        title={`${waitWords(extension.byMs)} more`}
        onClick={() => void extend()}
        className="min-h-6! px-2! py-0! text-meta! coarse:min-h-11!"
      >
        More time
      </Button>
      {asking.name === "failed" && asking.until === expiresAt && (
        <span role="alert" className="text-danger">
          Not extended: {asking.why}
        </span>
      )}
    </>
  )
}

/** The last one given, the button goes: where the focus goes with it, the card has it then. */
function useFocusOnCardWhen(isSpent: boolean, askId: string): RefCallback<HTMLButtonElement> {
  const hadFocus = useRef(false)
  useLayoutEffect(() => {
    if (isSpent && hadFocus.current) focusCard(askId)
    hadFocus.current = false
  }, [isSpent, askId])
  return useCallback((button: HTMLButtonElement) => {
    return () => {
      // Still in the page, and gone in a moment.
      hadFocus.current = document.activeElement === button
    }
  }, [])
}

/** Why not, or undefined. With the end that was seen: pressed by two at once, or sent twice, it is given once. */
async function moreTime(store: HubStore, id: string, expiresAt: string): Promise<string | undefined> {
  try {
    const longer = await store.hub.extend(id, { expiresAt })
    store.takeAsk(longer)
    announce(`More time: expires ${timeLeft(Date.parse(longer.expiresAt ?? "") - hubNow())}`)
    return undefined
  } catch (error) {
    const known = error instanceof HubClientError ? error.details["ask"] : undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub's word on its own ask: the contract says what it is
    if (isObject(known)) store.takeAsk(known as unknown as Ask)
    return error instanceof Error ? error.message : String(error)
  }
}

/** Why somebody is asked: facts that the CLI or the hub gave, nothing of our own making. */
export function AskReasons({ ask }: { readonly ask: Ask }) {
  const session = useSession(ask.sessionId)
  const isBarred = useIsBarred(ask)
  const canOperate = useCanOperate()
  const facts = reasonsOf(ask, session?.cwd, useMachineHome(session?.runner ?? null))
  // Operators whom it keeps from allowing read it beside the buttons.
  const isTold = ask.fourEyes === true && ask.state === "pending" && session !== undefined && !(isBarred && canOperate)
  const reasons = isTold ? [...facts, fourEyesWords(session.startedBy, isBarred)] : facts
  const verdict = verdictReason(ask)
  if (reasons.length === 0 && verdict === undefined) return null
  return (
    <ul aria-label="Why" className="shrink-0 text-dense text-text-2">
      {reasons.map((reason) => (
        <VisibleText as="li" key={reason} text={reason} />
      ))}
      {verdict !== undefined && (
        <li>
          <VerdictWords reason={verdict} why={ask.why} />
        </li>
      )}
    </ul>
  )
}

/** Whether the reader must not allow an ask that needs a second person: they started its session, or nobody knows who did. */
export function useIsBarred({ sessionId, fourEyes }: Ask): boolean {
  const me = useMe()
  const session = useSession(sessionId)
  if (fourEyes !== true || session === undefined) return false
  return session.startedBy === undefined || session.startedBy === me.name
}

/** Which of a session's agents asks. Beside its transcript a sub-agent has a name, elsewhere only an id. */
function AskAgent({ ask }: { readonly ask: Ask }) {
  const transcript = useContext(TranscriptContext)
  return transcript === undefined ? <Agent words={agentWords(ask)} /> : <NamedAgent feed={transcript.feed} ask={ask} />
}

function NamedAgent({ feed, ask }: { readonly feed: SessionFeed; readonly ask: Ask }) {
  const toolUse = textOf(ask.request, "tool_use_id") ?? ""
  const name = useSelected(
    feed.view,
    useCallback(() => {
      const lane = feed.tool(toolUse)?.lane ?? null
      const host = lane === null ? undefined : feed.tool(lane)
      return host === undefined ? undefined : agentName(host)
    }, [feed, toolUse]),
  )
  return <Agent words={name === undefined ? agentWords(ask) : `sub-agent ${name}`} />
}

/** Sub-agents are named. The session's own agent is who one expects. */
function Agent({ words }: { readonly words: string }) {
  return words === MAIN_AGENT ? null : <span>{words}</span>
}
