import type { Ask } from "@signalbox/client"
import {
  type ComponentType,
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from "react"
import { useNow } from "../app/clock.ts"
import { useCanOperate, useConnection, useSession } from "../app/hub-context.ts"
import { isEditable } from "../app/keyboard.ts"
import { leaveRegion } from "../app/regions.ts"
import { Button, KeyHint } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { Notice, Trouble } from "../design/notice.tsx"
import { headingOf } from "../fleet/ask-words.ts"
import { isSilent } from "../fleet/session-status.tsx"
import { noteSettled, useArming } from "./answer/arming.ts"
import { mayTakeFocus, noteAnswering, noteLeaving } from "./answer/following-focus.ts"
import { READING_KEYS, readOn } from "./answer/read-on.ts"
import { type AnswerState, type BareAnswer, useAnswer } from "./answer/send-answer.ts"
import { AskHeading, AskReasons, BriefHeading, useIsBarred } from "./ask-heading.tsx"
import { Outcome } from "./ask-outcome.tsx"
import { AskWhy } from "./ask-why.tsx"
import { ActionBar, AllowBarred, type AskFormProps, type AskPlace } from "./forms/form-parts.tsx"
import { WholeJson } from "./forms/long-request.tsx"
import { QuestionAsk } from "./forms/question-form.tsx"
import { ToolAsk } from "./forms/tool-form.tsx"
import { fourEyesWords } from "./request-words.ts"
import { closeSheet, openSheet } from "./shown-ask.tsx"

/** A request and what can be done about it, or what came of it. */
export function AskCard({ ask, place }: { readonly ask: Ask; readonly place: AskPlace }) {
  const card = useRef<HTMLElement>(null)
  const { state, answer } = useAnswer(ask)
  const arming = useArming(`${ask.id}:${ask.inputHash}`)
  const connection = useConnection()
  const canOperate = useCanOperate()
  const barId = useId()
  const barred = useIsBarred(ask) ? barId : undefined
  const isDocked = place === "dock" || place === "phone"
  const isOpen = ask.state === "pending"
  const isSent = state.name === "sending" || state.name === "answered"
  const canAct = isOpen && connection.name === "live" && !isSent
  const guarded = (next: BareAnswer, alike?: readonly Ask[]) => {
    if (!canAct || !arming.isArmed()) return false
    noteAnswering(card.current)
    answer(next, alike)
    return true
  }
  const cut = useCutOff(card, isOpen)
  useSettling(isOpen)
  const Form = FORMS[ask.kind]
  useEffect(() => {
    if (isOpen && mayTakeFocus()) card.current?.focus()
  }, [isOpen])
  const isAnsweredHere = useRef(false)
  isAnsweredHere.current = state.name === "answered"
  useLayoutEffect(() => {
    const { current } = card
    return () => noteLeaving(current, { isAnsweredHere: isAnsweredHere.current })
  }, [])
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
      onPointerDown={arming.onPointerDown}
      onKeyDown={(event) => onCardKey(event, ask, place)}
      className={classes(
        // A request that is shown in full makes the card as high as it is: the buttons must not lie over its end.
        "flex min-h-0 flex-col gap-2 rounded-control outline-offset-4! has-data-whole:min-h-max",
        // On a phone the buttons are at the thumb, however short the request.
        !isDocked && "max-tablet:flex-1",
        // For a moment nothing counts, and the pointer says so.
        isOpen && !arming.looksArmed && "[&_[data-act]]:cursor-progress",
      )}
    >
      {place === "phone" ? <BriefHeading ask={ask} /> : <AskHeading ask={ask} showSession={!isDocked} />}
      {!isOpen && <Outcome ask={ask} hadFocus={cut.hadFocus} />}
      {!isOpen && !isSent && cut.hadWords && <p className="text-text-2">Your text was not sent.</p>}
      {isOpen && <AskWhy ask={ask} />}
      <AskReasons ask={ask} />
      {isOpen && canOperate ? (
        // Not the boundary of the record: a form that goes must be gone, with its focus, while the record is loaded.
        <PartBoundary key="form">
          <AllowBarred value={barred}>
            <Form {...{ ask, canAct, place }} answer={guarded} notes={<AskNotes {...{ ask, state, barred }} />} />
          </AllowBarred>
        </PartBoundary>
      ) : (
        <PartBoundary key="record" waiting={null}>
          <AskRecord ask={ask} />
        </PartBoundary>
      )}
      {isOpen && !canOperate && <p className="text-text-2">View only</p>}
    </section>
  )
}

interface CutOff {
  readonly hadFocus: boolean
  /** A reason was being written. */
  readonly hadWords: boolean
}

/** Settled by somebody else, or by time, while this page was at it: what was there then, before it goes. */
function useCutOff(card: RefObject<HTMLElement | null>, isOpen: boolean): CutOff {
  const wasOpen = useRef(isOpen)
  const cut = useRef<CutOff>({ hadFocus: false, hadWords: false })
  if (wasOpen.current && !isOpen) {
    const reason = card.current?.querySelector<HTMLTextAreaElement>("[data-reason]")
    const hadFocus = card.current?.contains(document.activeElement) === true
    cut.current = { hadFocus, hadWords: (reason?.value ?? "") !== "" }
  }
  wasOpen.current = isOpen
  return cut.current
}

/** The card that comes next holds back for a moment, whoever settled this one. */
function useSettling(isOpen: boolean): void {
  const wasOpen = useRef(isOpen)
  useEffect(() => {
    if (wasOpen.current && !isOpen) noteSettled()
    wasOpen.current = isOpen
  }, [isOpen])
}

/** Plans and servers' forms are rare: the page's first load does without them. */
const AHEAD = { isAhead: true }
const AskRecord = lazyPart(async () => (await import("./ask-record.tsx")).AskRecord, AHEAD)
const PlanAsk = lazyPart(async () => (await import("./forms/plan-form.tsx")).PlanAsk, AHEAD)
const ElicitationAsk = lazyPart(async () => (await import("./forms/elicitation-form.tsx")).ElicitationAsk, AHEAD)

const FORMS: Readonly<Record<Ask["kind"], ComponentType<AskFormProps>>> = {
  tool: ToolAsk,
  question: QuestionAsk,
  plan: PlanAsk,
  elicitation: ElicitationAsk,
  dialog: DialogAsk,
}

const LETTERS: Readonly<Record<string, string>> = {
  y: '[data-act="primary"]',
  n: '[data-act="deny"]',
  e: '[data-act="edit"]',
  a: '[data-remember], [data-split-button] [aria-haspopup="menu"]',
}

/** Letters act only here, only when nothing is being typed, and only once for each press. */
function onCardKey(event: KeyboardEvent<HTMLElement>, ask: Ask, place: AskPlace): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isInOwnDialog(event)) return
  if (event.key === "Escape") {
    // A screen of its own is closed by the browser.
    if (place === "sheet") return
    leaveRegion()
  } else if (isEditable(event.target) || isChoice(event.target, ask)) {
    return
  } else if (event.key === "d") {
    if (!event.repeat) (place === "sheet" ? closeSheet : openSheet)(ask.id)
  } else if (READING_KEYS[event.key] !== undefined) {
    if (!readsOn(event)) return
  } else {
    const button = LETTERS[event.key]
    if (button === undefined) return
    if (!event.repeat) event.currentTarget.querySelector<HTMLElement>(button)?.click()
  }
  event.preventDefault()
  event.stopPropagation()
}

/** Whether the key scrolled the request. Space on a button presses it. */
function readsOn({ key, shiftKey, target, currentTarget }: KeyboardEvent<HTMLElement>): boolean {
  const end = currentTarget.querySelector("[data-request-end]")
  const how = READING_KEYS[key]
  const isPress = key === " " && target instanceof Element && target.closest("button, a, input, summary") !== null
  if (end === null || how === undefined || isPress) return false
  readOn(end, key === " " && shiftKey ? "back" : how)
  return true
}

/** A choice in a form is a field of it: whoever types there does not mean the form's buttons. */
function isChoice(target: EventTarget, { kind }: Ask): boolean {
  return (kind === "question" || kind === "elicitation") && target instanceof HTMLInputElement
}

/** A dialog or a menu of the card's own has keys of its own. */
function isInOwnDialog({ target, currentTarget }: KeyboardEvent<HTMLElement>): boolean {
  const dialog = target instanceof Element ? target.closest('dialog, [role="menu"]') : null
  return dialog !== null && currentTarget.contains(dialog)
}

/** A kind of dialog we do not know: what it says, and the one answer that is always right. */
function DialogAsk({ ask, canAct, answer, notes }: AskFormProps) {
  return (
    <>
      <div tabIndex={0} role="group" aria-label="Request" className="min-h-14 overflow-y-auto rounded-control">
        <WholeJson value={ask.request["payload"] ?? ask.request} />
      </div>
      <ActionBar notes={notes}>
        <Button
          data-act="deny"
          aria-disabled={!canAct}
          onClick={() => answer({ cancelled: true })}
          className="self-start"
        >
          Cancel dialog
          <KeyHint>n</KeyHint>
        </Button>
      </ActionBar>
    </>
  )
}

interface AskNotesProps {
  readonly ask: Ask
  readonly state: AnswerState
  /** Set where the reader must not allow it: the id of the sentence that says why. */
  readonly barred: string | undefined
}

/** How the answer fares, and what stands in its way. */
function AskNotes({ ask, state, barred }: AskNotesProps) {
  const session = useSession(ask.sessionId)
  const now = useNow()
  const connection = useConnection()
  const caution = (words: string, id?: string) => (
    <p id={id} className="text-dense text-caution">
      {words}
    </p>
  )
  if (state.name === "sending")
    return (
      <p role="status" className="text-dense text-text-2">
        Sending…
      </p>
    )
  if (state.name === "changed")
    return (
      <Notice tone="caution" alert>
        The request changed. Review it again.
      </Notice>
    )
  if (state.name === "not-sent") return <Trouble onRetry={state.again}>Not sent: {state.why}</Trouble>
  if (state.name === "refused") return <Trouble>Not accepted: {state.why}</Trouble>
  if (connection.name === "lost") return caution("Hub offline. You can answer when it reconnects.")
  if (barred !== undefined) return caution(fourEyesWords(session?.startedBy, true), barred)
  const isAway = session !== undefined && isSilent(session, now)
  return isAway ? caution("Machine offline. Your answer waits until it's back.") : null
}
