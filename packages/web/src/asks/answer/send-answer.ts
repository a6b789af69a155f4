import { type Ask, type AskAnswer, HubClientError } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { announce } from "../../app/announcer.tsx"
import type { HubStore } from "../../app/hub-store.ts"
import { outcomeVerb } from "../../fleet/outcome-words.ts"
import { setAnswerState } from "./answer-states.ts"
import { noteAnswered } from "./following-focus.ts"
import { noteSettled } from "./use-arming.ts"

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

/** Longer than this and the two clocks do not agree: then it is not said by how much. */
const MAX_BELIEVED_MS = 30_000

/** One answer, bound to what was seen. Never fails: what went wrong is the answer's state. */
export async function sendAnswer(sending: Sending): Promise<void> {
  const { store, ask, answer, answerId } = sending
  setAnswerState(ask.id, { name: "sending" })
  const sentAt = Date.now()
  try {
    const settled = await store.hub.answer(ask.id, { ...answer, inputHash: ask.inputHash, answerId })
    noteSettled()
    noteAnswered()
    setAnswerState(ask.id, { name: "answered" })
    store.takeAsk(settled)
    announce(outcomeVerb(settled))
  } catch (error) {
    if (error instanceof HubClientError && error.code === "ask/settled") lost(sending, error, sentAt)
    else if (error instanceof HubClientError && error.code === "ask/changed") await changed(sending)
    else notSent(sending, error)
  }
}

function lost({ store, ask }: Sending, error: HubClientError, sentAt: number): void {
  noteSettled()
  noteAnswered()
  const winner = error.details["ask"]
  const at = Date.parse(textOf(winner, "settledAt") ?? "")
  const byMs = Math.max(0, sentAt - at)
  setAnswerState(ask.id, { name: "lost", byMs: byMs <= MAX_BELIEVED_MS ? byMs : undefined })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub's word on its own ask: the contract says what it is
  if (isObject(winner)) store.takeAsk(winner as unknown as Ask)
}

async function changed({ store, ask }: Sending): Promise<void> {
  setAnswerState(ask.id, { name: "changed" })
  // What it is now comes over the stream too.
  const now = await store.hub.ask(ask.id).catch(() => undefined)
  if (now !== undefined) store.takeAsk(now)
}

function notSent(sending: Sending, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error)
  setAnswerState(sending.ask.id, { name: "not-sent", why, again: () => void sendAnswer(sending) })
}
