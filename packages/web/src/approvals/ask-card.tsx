import type { Ask } from "@signalbox/client"
import { type KeyboardEvent, useEffect, useRef } from "react"
import { useNow } from "../app/clock.ts"
import { useCanOperate, useConnection, useMe, useSession } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { leaveRegion } from "../app/regions.ts"
import { navigate } from "../app/router.ts"
import { isEditable } from "../app/visible-height.ts"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Notice } from "../design/notice.tsx"
import { age } from "../design/words.ts"
import { MachineName } from "../sessions/machine-name.tsx"
import { isSilent } from "../sessions/session-status.ts"
import { titleOf } from "../sessions/session-words.ts"
import { AskReasons } from "./ask-body.tsx"
import { headingOf } from "./ask-words.ts"
import { DialogAsk } from "./dialog-ask.tsx"
import { ElicitationAsk } from "./elicitation-ask.tsx"
import { outcomeSentence } from "./outcome.ts"
import { PlanAsk } from "./plan-ask.tsx"
import { QuestionAsk } from "./question-ask.tsx"
import { ToolAsk } from "./tool-ask.tsx"
import { type AnswerState, type BareAnswer, useAnswer } from "./use-answer.ts"
import { useArming } from "./use-arming.ts"

/** What a form of an ask needs: whether it may act now, and how it answers. */
export interface AskFormProps {
  readonly ask: Ask
  /** False: nothing may be decided now, and the buttons say so. */
  readonly canAct: boolean
  /** Does nothing while the card is not armed. */
  readonly answer: (answer: BareAnswer) => void
  /** All the height there is. */
  readonly isWide: boolean
}

interface AskCardProps {
  readonly ask: Ask
  readonly isWide?: boolean
  readonly showSession?: boolean
}

export function AskCard({ ask, isWide = false, showSession = false }: AskCardProps) {
  const card = useRef<HTMLElement>(null)
  const { state, answer } = useAnswer(ask)
  const arming = useArming(`${ask.id}:${ask.inputHash}`)
  const connection = useConnection()
  const canOperate = useCanOperate()
  const isOpen = ask.state === "pending"
  const canAct = isOpen && connection.name === "live" && state.name !== "sending"
  const guarded = (next: BareAnswer) => {
    if (canAct && arming.isArmed()) answer(next)
  }
  return (
    // The card takes keys for what is inside it; everything in it can be done without them.
    <section
      ref={card}
      aria-label={headingOf(ask)}
      tabIndex={-1}
      data-region-focus
      data-ask={ask.id}
      data-armed={arming.looksArmed}
      onFocus={arming.onFocus}
      onKeyDown={(event) => onCardKey(event, ask)}
      className="flex min-h-0 flex-col gap-2 rounded-control outline-offset-0!"
    >
      <AskHeading ask={ask} showSession={showSession} />
      {isOpen || state.name === "lost" ? null : <Outcome ask={ask} state={state} />}
      {state.name === "lost" && <Outcome ask={ask} state={state} />}
      <AskReasons ask={ask} />
      <AskForm
        ask={ask}
        canAct={canAct && canOperate}
        answer={guarded}
        isWide={isWide}
        canOperate={canOperate && isOpen}
      />
      {isOpen && <AskNotes ask={ask} state={state} />}
      {isOpen && !canOperate && <p className="text-text-2">Operators can answer.</p>}
    </section>
  )
}

function AskForm({ canOperate, ...props }: AskFormProps & { readonly canOperate: boolean }) {
  const form = (() => {
    switch (props.ask.kind) {
      case "tool":
        return <ToolAsk {...props} />
      case "question":
        return <QuestionAsk {...props} />
      case "plan":
        return <PlanAsk {...props} />
      case "elicitation":
        return <ElicitationAsk {...props} />
      case "dialog":
        return <DialogAsk {...props} />
    }
  })()
  // Without the right to answer, the actions are not there; what is asked is.
  return (
    <div className={classes("flex min-h-0 flex-col gap-2", !canOperate && "[&_[data-actions]]:hidden")}>{form}</div>
  )
}

function AskHeading({ ask, showSession }: { readonly ask: Ask; readonly showSession: boolean }) {
  const now = useNow()
  const session = useSession(ask.sessionId)
  const agent = ask.request["agent_id"]
  const expires = ask.expiresAt === undefined ? undefined : Date.parse(ask.expiresAt) - now
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <h3 className="text-prose font-bold">
        <bdi>{headingOf(ask)}</bdi>
      </h3>
      <p className="flex flex-wrap gap-x-2 text-meta text-text-3">
        {showSession && session !== undefined && (
          <Link href={`/s/${session.id}?seq=${ask.seq}`} className="underline">
            <bdi>{titleOf(session)}</bdi>
          </Link>
        )}
        {session !== undefined && <MachineName session={session} />}
        {typeof agent === "string" && <span>sub-agent {agent}</span>}
        <span className="tabular-nums">asked {age(Date.parse(ask.askedAt), now)} ago</span>
        {expires !== undefined && ask.state === "pending" && (
          <span className="text-caution tabular-nums">expires in {age(0, Math.max(0, expires))}</span>
        )}
      </p>
    </div>
  )
}

function AskNotes({ ask, state }: { readonly ask: Ask; readonly state: AnswerState }) {
  const session = useSession(ask.sessionId)
  const now = useNow()
  const connection = useConnection()
  if (state.name === "sending")
    return (
      <p role="status" className="text-dense text-text-2">
        Sending…
      </p>
    )
  if (state.name === "changed")
    return (
      <Notice tone="caution" alert>
        The request changed; review again.
      </Notice>
    )
  if (state.name === "not-sent") {
    return (
      <Notice tone="danger" alert>
        Not sent: {state.why}
        <Button onClick={state.again}>Retry</Button>
      </Notice>
    )
  }
  if (connection.name === "lost")
    return <p className="text-dense text-caution">The hub is away: nothing can be answered until it is back.</p>
  if (session !== undefined && isSilent(session, now))
    return <p className="text-dense text-caution">Machine offline; your answer will wait.</p>
  return null
}

function Outcome({ ask, state }: { readonly ask: Ask; readonly state: AnswerState }) {
  const me = useMe()
  const line = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    // Whoever answered stays where they are, on what became of it: their buttons are gone.
    if (line.current !== null && document.activeElement === document.body) line.current.focus()
  }, [])
  const isGood = ask.state === "allowed" && state.name !== "lost"
  return (
    <p ref={line} tabIndex={-1} role="status" className={classes("font-medium", isGood ? "text-clear" : "text-text-2")}>
      {outcomeSentence(ask, { me: me.name, lostBy: state.name === "lost" ? state.byMs : undefined })}
    </p>
  )
}

/** Letters act only here, only when nothing is being typed, and only once for each press. */
function onCardKey(event: KeyboardEvent<HTMLElement>, ask: Ask): void {
  if (event.repeat) {
    if (["y", "n", "e", "a", "d"].includes(event.key)) event.preventDefault()
    return
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isEditable(event.target)) return
  const press = (name: string) => event.currentTarget.querySelector<HTMLElement>(`[data-act="${name}"]`)?.click()
  switch (event.key) {
    case "y":
      press("primary")
      break
    case "n":
      press("deny")
      break
    case "e":
      press("edit")
      break
    case "a":
      event.currentTarget.querySelector<HTMLElement>("[data-remember]")?.click()
      break
    case "d":
      navigate(`/approvals/${ask.id}`)
      break
    case "Escape":
      leaveRegion()
      break
    default:
      return
  }
  event.preventDefault()
  event.stopPropagation()
}
