import { type Ask, type AskAnswer, HubClientError, newUuid } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { announce } from "../../app/announcer.tsx"
import { useHubStore } from "../../app/hub-context.ts"
import type { HubStore } from "../../app/hub-store.ts"
import { createValueStore, useSelected } from "../../app/value-store.ts"
import { outcomeVerb } from "../../fleet/ask-words.ts"
import { noteSettled } from "./arming.ts"
import { noteAnswered } from "./following-focus.ts"

/** Omits over a union keep its members apart. */
type Bare<T> = T extends unknown ? Omit<T, "inputHash" | "answerId"> : never
export type BareAnswer = Bare<AskAnswer>

interface Sending {
  readonly store: HubStore
  readonly ask: Ask
  readonly answer: BareAnswer
  /** A retry carries the same id, so that it is one answer still. */
  readonly answerId: string
}

/** One answer, bound to what was seen. Never fails: what went wrong is the answer's state. */
async function sendAnswer(sending: Sending): Promise<void> {
  const { store, ask, answer, answerId } = sending
  setAnswerState(ask.id, { name: "sending" })
  try {
    const settled = await store.hub.answer(ask.id, { ...answer, inputHash: ask.inputHash, answerId })
    noteSettled()
    noteAnswered()
    setAnswerState(ask.id, { name: "answered" })
    store.takeAsk(settled)
    announce(outcomeVerb(settled))
  } catch (error) {
    if (error instanceof HubClientError && error.code === "ask/settled") lost(sending, error)
    else if (error instanceof HubClientError && error.code === "ask/changed") await changed(sending)
    else if (error instanceof HubClientError && REFUSALS.has(error.code))
      setAnswerState(ask.id, { name: "refused", why: error.message })
    else notSent(sending, error)
  }
}

/** The same answer would be refused again. */
const REFUSALS: ReadonlySet<string> = new Set(["ask/four-eyes", "policy/denies"])

function lost({ store, ask, answer }: Sending, error: HubClientError): void {
  noteSettled()
  noteAnswered()
  const winner = error.details["ask"]
  setAnswerState(ask.id, { name: "lost", isDenial: "behavior" in answer && answer.behavior === "deny" })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub's word on its own ask: the contract says what it is
  if (isObject(winner)) store.takeAsk(winner as unknown as Ask)
}

async function changed({ store, ask }: Sending): Promise<void> {
  setAnswerState(ask.id, { name: "changed" })
  // The stream brings the changed request too.
  const now = await store.hub.ask(ask.id).catch(() => undefined)
  if (now !== undefined) store.takeAsk(now)
}

function notSent(sending: Sending, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error)
  setAnswerState(sending.ask.id, { name: "not-sent", why, again: () => void sendAnswer(sending) })
}

interface Answering {
  readonly state: AnswerState
  /** `alike`: asks of the same thing, that get the same answer. What is remembered is remembered once. */
  readonly answer: (answer: BareAnswer, alike?: readonly Ask[]) => void
}

export function useAnswer(ask: Ask): Answering {
  const store = useHubStore()
  const state = useAnswerState(ask.id)
  return {
    state,
    answer(answer, alike = []) {
      void sendAnswer({ store, ask, answer, answerId: newUuid() })
      for (const other of alike) {
        void sendAnswer({ store, ask: other, answer: withoutRules(answer), answerId: newUuid() })
      }
    },
  }
}

function withoutRules(answer: BareAnswer): BareAnswer {
  if (!("updatedPermissions" in answer)) return answer
  const { updatedPermissions: _, ...rest } = answer
  return rest
}

/** How far this page's own answer to an ask has come. */
export type AnswerState =
  | { readonly name: "open" }
  | { readonly name: "sending" }
  | { readonly name: "not-sent"; readonly why: string; readonly again: () => void }
  /** The hub does not accept this answer from this person; another answer may be accepted. */
  | { readonly name: "refused"; readonly why: string }
  /** It counted. */
  | { readonly name: "answered" }
  /** Somebody was first. */
  | { readonly name: "lost"; readonly isDenial: boolean }
  | { readonly name: "changed" }

const OPEN: AnswerState = { name: "open" }
const MAX_STATES = 200

/** By ask: what became of an answer is told also by the card that comes after the one that sent it. */
const states = createValueStore<ReadonlyMap<string, AnswerState>>(new Map())

export function answerStateOf(id: string): AnswerState {
  return states.get().get(id) ?? OPEN
}

function setAnswerState(id: string, state: AnswerState): void {
  const others = [...states.get()].filter(([other]) => other !== id)
  states.set(new Map([...others, [id, state] as const].slice(-MAX_STATES)))
}

export function useAnswerState(id: string): AnswerState {
  return useSelected(states, () => answerStateOf(id))
}
