import { HubClientError, newUuid, type Session } from "@signalbox/client"
import { isObject, parseJson, textOf } from "@signalbox/protocol/envelope"
import type { Row } from "@signalbox/transcript"
import { useCallback, useEffect } from "react"
import { isAtLeast } from "../../agent/agent-question.ts"
import { useHubStore } from "../../app/hub-context.ts"
import { createValueStore, useValue, type ValueStore } from "../../app/value-store.ts"

/** Pending messages from this page: from the key press until the log has them. Pure. */
export interface Outgoing {
  readonly uuid: string
  readonly content: string | readonly unknown[]
  /** The text that is shown. */
  readonly text: string
  readonly priority?: "now"
  readonly state:
    | { readonly name: "sending" }
    | { readonly name: "accepted" }
    | { readonly name: "not-sent"; readonly why: string }
}

type OutgoingInput =
  | { readonly type: "send"; readonly message: Omit<Outgoing, "state"> }
  | { readonly type: "accepted"; readonly uuid: string }
  | { readonly type: "failed"; readonly uuid: string; readonly why: string }
  | { readonly type: "retry"; readonly uuid: string }
  | { readonly type: "discard"; readonly uuid: string }
  /** The log has these now. */
  | { readonly type: "logged"; readonly uuids: ReadonlySet<string> }

export function stepOutgoing(list: readonly Outgoing[], input: OutgoingInput): readonly Outgoing[] {
  const change = (uuid: string, state: Outgoing["state"]) =>
    list.map((message) => (message.uuid === uuid ? { ...message, state } : message))
  switch (input.type) {
    case "send":
      return [...list, { ...input.message, state: { name: "sending" } }]
    case "accepted":
      return change(input.uuid, { name: "accepted" })
    case "failed":
      return change(input.uuid, { name: "not-sent", why: input.why })
    case "retry":
      return change(input.uuid, { name: "sending" })
    case "discard":
      return list.filter(({ uuid }) => uuid !== input.uuid)
    case "logged":
      return list.some(({ uuid }) => input.uuids.has(uuid)) ? list.filter(({ uuid }) => !input.uuids.has(uuid)) : list
  }
}

/** The first version seen to break into a turn for a message that says "now"; what lies between was not tried. */
export function takesPriority(cliVersion: string | null): boolean {
  return isAtLeast(cliVersion, [2, 1, 120])
}

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

interface Sender {
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
      return dispatch({ type: "failed", uuid, why: "Couldn't reach the hub." })
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
    return "The conversation continues in another session. Send it there."
  return error instanceof Error ? error.message : String(error)
}

/**
 * Messages that are not known to be with the hub, kept in the browser: a reload must not lose them. One entry for each
 * message, as other tabs have theirs.
 */
const PREFIX = "signalbox:unsent:"
const MAX_CHARS = 500_000
/** The oldest go first. */
const MAX_MESSAGES = 50

type Message = Omit<Outgoing, "state">

const GONE = "Not sent before the page closed."
const WITHOUT_PICTURES = `${GONE} Its images were too large to keep. Discard it and add them again.`

/** The part of a browser's `Storage` that is needed. */
export type UnsentPlace = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">

export function keepUnsent(session: string, message: Message, place?: UnsentPlace): void {
  attempt(place, (storage) => {
    const at = Date.now()
    const whole = JSON.stringify({ ...message, at })
    const isWhole = whole.length <= MAX_CHARS
    const kept = isWhole
      ? whole
      : JSON.stringify({ ...message, content: message.text.slice(0, MAX_CHARS), at, isCut: true })
    storage.setItem(keyOf(session, message.uuid), kept)
    const all = entriesIn(storage, PREFIX).toSorted((a, b) => a.at - b.at)
    for (const { key } of all.slice(0, Math.max(0, all.length - MAX_MESSAGES))) storage.removeItem(key)
  })
}

export function forgetUnsent(session: string, uuid: string, place?: UnsentPlace): void {
  attempt(place, (storage) => storage.removeItem(keyOf(session, uuid)))
}

/** In the order in which they were written. */
export function readUnsent(session: string, place?: UnsentPlace): readonly Outgoing[] {
  const found: Outgoing[] = []
  attempt(place, (storage) => {
    const own = entriesIn(storage, `${PREFIX}${session}:`).toSorted((a, b) => a.at - b.at)
    for (const { value } of own) {
      const message = messageIn(value)
      if (message !== undefined) found.push(message)
    }
  })
  return found
}

function keyOf(session: string, uuid: string): string {
  return `${PREFIX}${session}:${uuid}`
}

/** A browser can be told to keep nothing: then it stays for as long as the page lives. */
function attempt(place: UnsentPlace | undefined, run: (storage: UnsentPlace) => void): void {
  try {
    run(place ?? localStorage)
  } catch {
    // Nothing more can be done.
  }
}

function entriesIn(storage: UnsentPlace, prefix: string) {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
  return keys
    .filter((key) => key.startsWith(prefix))
    .map((key) => {
      const value = parseJson(storage.getItem(key) ?? "null")
      const at = isObject(value) ? value["at"] : undefined
      return { key, value, at: typeof at === "number" ? at : 0 }
    })
}

function messageIn(value: unknown): Outgoing | undefined {
  if (!isObject(value)) return undefined
  const [uuid, text, content] = [textOf(value, "uuid"), textOf(value, "text"), value["content"]]
  if (uuid === undefined || text === undefined || (typeof content !== "string" && !Array.isArray(content)))
    return undefined
  const why = value["isCut"] === true ? WITHOUT_PICTURES : GONE
  const priority = value["priority"] === "now" ? { priority: "now" as const } : {}
  return { uuid, text, content, ...priority, state: { name: "not-sent", why } }
}
