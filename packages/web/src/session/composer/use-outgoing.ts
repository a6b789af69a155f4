import { HubClientError, newUuid, type Session } from "@signalbox/client"
import type { Row } from "@signalbox/transcript"
import { useCallback, useEffect } from "react"
import { useHubStore } from "../../app/hub-context.ts"
import { createValueStore, useValue, type ValueStore } from "../../app/value-store.ts"
import { type Outgoing, type OutgoingInput, stepOutgoing, takesPriority } from "./outgoing.ts"
import { forgetUnsent, keepUnsent, readUnsent } from "./unsent.ts"

/** By session: what was not sent must not be gone because somebody looked elsewhere meanwhile, or loaded the page anew. */
const kept = new Map<string, ValueStore<readonly Outgoing[]>>()

const MAX_KEPT = 100

function outgoingOf(session: string): ValueStore<readonly Outgoing[]> {
  const known = kept.get(session)
  if (known !== undefined) return known
  // Those without anything on its way go first; what was not sent stays.
  if (kept.size >= MAX_KEPT) for (const [id, { get }] of kept) if (get().length === 0) kept.delete(id)
  const store = createValueStore<readonly Outgoing[]>(readUnsent(session))
  kept.set(session, store)
  return store
}

export interface Sender {
  readonly waiting: readonly Outgoing[]
  readonly send: (message: Pick<Outgoing, "content" | "text" | "priority">) => void
  readonly retry: (message: Outgoing) => void
  readonly discard: (uuid: string) => void
}

/** Sends, and follows each message until it stands in the log. The same uuid goes along with every try: it arrives once. */
export function useOutgoing(session: Session, rows: readonly Row[]): Sender {
  const store = useHubStore()
  const outgoing = outgoingOf(session.id)
  const waiting = useValue(outgoing)
  const dispatch = useCallback(
    (input: OutgoingInput) => {
      const before = outgoing.get()
      const after = stepOutgoing(before, input)
      outgoing.set(after)
      if (input.type === "send") keepUnsent(session.id, input.message)
      // The hub keeps what it has accepted.
      else if (input.type === "accepted") forgetUnsent(session.id, input.uuid)
      else for (const { uuid } of before) if (!after.some((left) => left.uuid === uuid)) forgetUnsent(session.id, uuid)
    },
    [outgoing, session.id],
  )

  useEffect(() => {
    if (outgoing.get().length === 0) return
    const uuids = new Set(
      rows.slice(-200).flatMap((row) => (row.kind === "prompt" && row.uuid !== undefined ? [row.uuid] : [])),
    )
    dispatch({ type: "logged", uuids })
  }, [outgoing, dispatch, rows])

  async function attempt({ uuid, content, priority }: Pick<Outgoing, "uuid" | "content" | "priority">): Promise<void> {
    if (store.connection.get().name === "lost") {
      return dispatch({ type: "failed", uuid, why: "The hub could not be reached." })
    }
    const one = store.hub.session(session.id)
    // A CLI that knows no priorities takes it at the turn's end: so that ends first, and never the message's own.
    if (priority === "now" && !takesPriority(session.cliVersion)) await one.interrupt().catch(() => undefined)
    try {
      await one.send(content, { uuid, ...(priority === undefined ? {} : { priority }) })
      dispatch({ type: "accepted", uuid })
    } catch (error) {
      return dispatch({ type: "failed", uuid, why: wordsOf(error) })
    }
  }

  return {
    waiting,
    send(message) {
      const whole = { ...message, uuid: newUuid() }
      dispatch({ type: "send", message: whole })
      void attempt(whole)
    },
    retry(message) {
      dispatch({ type: "retry", uuid: message.uuid })
      void attempt(message)
    },
    discard: (uuid) => dispatch({ type: "discard", uuid }),
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof HubClientError && error.code === "session/rotated")
    return "The conversation went on in another session: send it there."
  return error instanceof Error ? error.message : String(error)
}
