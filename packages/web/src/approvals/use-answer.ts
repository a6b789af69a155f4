import { type Ask, type AskAnswer, HubClientError } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { useState } from "react"
import { announce } from "../app/announcer.tsx"
import { useHubStore } from "../app/hub-context.ts"
import { noteSettled } from "./use-arming.ts"

export type AnswerState =
  | { readonly name: "open" }
  | { readonly name: "sending" }
  | { readonly name: "not-sent"; readonly why: string; readonly again: () => void }
  /** Somebody was first, by so many milliseconds. */
  | { readonly name: "lost"; readonly byMs: number }
  | { readonly name: "changed" }

/** Omits over a union keep its members apart. */
type Bare<T> = T extends unknown ? Omit<T, "inputHash" | "answerId"> : never
export type BareAnswer = Bare<AskAnswer>

export interface Answering {
  readonly state: AnswerState
  readonly answer: (answer: BareAnswer) => void
}

/** One answer, bound to what was seen; a retry carries the same id, so that it is one answer still. */
export function useAnswer(ask: Ask): Answering {
  const store = useHubStore()
  const [state, setState] = useState<AnswerState>({ name: "open" })

  async function send(answer: BareAnswer, answerId: string): Promise<void> {
    setState({ name: "sending" })
    const sentAt = Date.now()
    try {
      const settled = await store.hub.answer(ask.id, { ...answer, inputHash: ask.inputHash, answerId })
      noteSettled()
      store.takeAsk(settled)
      announce(settled.state === "allowed" ? "Allowed" : "Answered")
    } catch (error) {
      await refused(error, { sentAt, again: () => void send(answer, answerId) })
    }
  }

  async function refused(error: unknown, { sentAt, again }: { sentAt: number; again: () => void }): Promise<void> {
    if (error instanceof HubClientError && error.code === "ask/settled") {
      noteSettled()
      const winner = error.details["ask"]
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub's word on its own ask: the contract says what it is
      if (isObject(winner)) store.takeAsk(winner as unknown as Ask)
      const at = Date.parse(textOf(winner, "settledAt") ?? "")
      const byMs = Number.isNaN(at) ? 0 : Math.max(0, sentAt - at)
      return setState({ name: "lost", byMs })
    }
    if (error instanceof HubClientError && error.code === "ask/changed") {
      setState({ name: "changed" })
      return store.takeAsk(await store.hub.ask(ask.id))
    }
    setState({ name: "not-sent", why: error instanceof Error ? error.message : String(error), again })
  }

  return { state, answer: (answer) => void send(answer, crypto.randomUUID()) }
}
