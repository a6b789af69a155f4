import { type Ask, HubClientError } from "@signalbox/client"
import { useEffect, useRef, useState } from "react"
import { useAsk, useConnection, useHubStore } from "../app/hub-context.ts"
import { navigate, setQuery, usePlace } from "../app/router.tsx"
import { Button, IconButton } from "../design/button.tsx"
import { BackIcon, NextIcon } from "../design/icons.tsx"
import { Empty, Skeleton, Trouble } from "../design/notice.tsx"
import { noteSettled } from "./answer/arming.ts"
import { nextAfter } from "./answer/ask-queue.ts"
import { answerStateOf, useAnswerState } from "./answer/send-answer.ts"

interface Queue {
  readonly asks: ReadonlyMap<string, Ask>
  /** Requests that wait, in their order. */
  readonly open: readonly Ask[]
  readonly me: string
  readonly shown: string | undefined
  /** The address names it: it stays, whatever becomes of it, until this page answered it. */
  readonly isLinked: boolean
  readonly show: (id: string | undefined) => void
}

interface ShownAsk {
  readonly id: string | undefined
  /** Answered by this page a moment ago, with the next one in its place already. */
  readonly answered: string | undefined
  readonly pointer: Lingering["pointer"]
}

/**
 * Which request of a queue has the place. One that this page answered makes room for the next at once; one that ended otherwise
 * stays for a moment, to be read.
 */
export function useShownAsk({ asks, open, me, shown, isLinked, show }: Queue): ShownAsk {
  const order = useRef(open)
  /** The one that was seen open here: only what is settled under the reader's eyes makes room. */
  const seenOpen = useRef<string | undefined>(undefined)
  const [answered, setAnswered] = useState<string | undefined>(undefined)
  const current = shown === undefined ? undefined : asks.get(shown)
  const settled = current === undefined || current.state === "pending" ? undefined : current
  // A reader whose own answer is still on its way has not been told what came of it: the moment begins with that.
  const isSending = useAnswerState(settled?.id ?? "").name === "sending"
  const { isOver, pointer } = useLingering(isLinked || isSending ? undefined : settled?.id, open.length > 0)
  const isMine = settled !== undefined && seenOpen.current === settled.id && isAnsweredHere(settled, me)
  const next = settled === undefined ? open[0] : nextAfter(settled.id, order.current, open)
  const makesRoom = settled !== undefined && ((isMine && next !== undefined) || (!isLinked && !isSending && isOver))
  const isKnown = current !== undefined || isLinked
  const id = isKnown && !makesRoom ? shown : next?.id
  const answeredId = isMine && id !== undefined && id !== shown ? settled.id : undefined
  const isOpen = current?.state === "pending"
  useEffect(() => {
    if (settled === undefined) order.current = open
    if (isOpen) seenOpen.current = shown
    if (answeredId !== undefined) {
      setAnswered(answeredId)
      noteSettled()
    }
    if (id !== shown) show(id)
  }, [id, shown, settled, isOpen, answeredId, open, show])
  return { id, answered, pointer }
}

/** By this page: its answer came through, or the stream tells of it before the reply does. */
function isAnsweredHere({ id, settledBy }: Ask, me: string): boolean {
  const { name } = answerStateOf(id)
  return name === "answered" || (name === "sending" && settledBy === me)
}

/** How long an outcome stays where its question was. */
const OUTCOME_MS = 6000

export interface Lingering {
  readonly isOver: boolean
  /** For what it stands in: nothing goes away from under a pointer. */
  readonly pointer: { readonly onPointerEnter: () => void; readonly onPointerLeave: () => void }
}

/**
 * An outcome stays for a while, and as long as the pointer is on it, unless another request waits behind it. `id`: of what was
 * settled, if anything was.
 */
export function useLingering(id: string | undefined, isAwaited = false): Lingering {
  const [over, setOver] = useState<string | undefined>(undefined)
  const isInside = useRef(false)
  const isDue = useRef(false)
  const awaited = useRef(isAwaited)
  useEffect(() => {
    awaited.current = isAwaited
    if (isAwaited && isDue.current && id !== undefined) setOver(id)
  }, [isAwaited, id])
  useEffect(() => {
    isDue.current = false
    if (id === undefined) return undefined
    const timer = setTimeout(() => {
      isDue.current = true
      if (!isInside.current || awaited.current) setOver(id)
    }, OUTCOME_MS)
    return () => clearTimeout(timer)
  }, [id])
  return {
    isOver: id === undefined || over === id,
    pointer: {
      onPointerEnter: () => {
        isInside.current = true
      },
      onPointerLeave: () => {
        isInside.current = false
        if (isDue.current && id !== undefined) setOver(id)
      },
    },
  }
}

type FoundAsk =
  | { readonly name: "looking" }
  | { readonly name: "found"; readonly ask: Ask }
  | { readonly name: "missing" }
  | { readonly name: "failed"; readonly why: string; readonly retry: () => void }

/** A rule settled it before this page heard of it: its input was too long for the stream. */
function isBrief({ kind, input }: Ask): boolean {
  return input === undefined && (kind === "tool" || kind === "question" || kind === "plan")
}

/** One ask by its id: what is known of it already, else asked for. */
export function useFoundAsk(id: string): FoundAsk {
  const store = useHubStore()
  const ask = useAsk(id)
  const [trouble, setTrouble] = useState<{ readonly id: string; readonly why?: string } | undefined>(undefined)
  const [tries, setTries] = useState(0)
  const isKnown = ask !== undefined && !isBrief(ask)
  const isLive = useConnection().name === "live"
  useEffect(() => {
    // Asked again when the hub is back: what could not be reached is not missing.
    if (isKnown || !isLive) return
    store.hub.ask(id).then(
      (found) => store.takeAsk(found),
      (error: unknown) => {
        const isMissing = error instanceof HubClientError && error.status === 404
        setTrouble(isMissing ? { id } : { id, why: error instanceof Error ? error.message : String(error) })
      },
    )
  }, [store, id, isKnown, isLive, tries])
  if (ask !== undefined) return { name: "found", ask }
  if (trouble?.id !== id) return { name: "looking" }
  if (trouble.why === undefined) return { name: "missing" }
  return { name: "failed", why: trouble.why, retry: () => setTries(tries + 1) }
}

/** In the place of a request that cannot be shown: not yet, not now, or not at all. */
export function AbsentAsk({ found }: { readonly found: Exclude<FoundAsk, { readonly name: "found" }> }) {
  switch (found.name) {
    case "looking":
      return <Skeleton rows={3} />
    case "missing":
      return (
        <Empty action={<Button onClick={() => navigate("/requests")}>All requests</Button>}>Request not found.</Empty>
      )
    case "failed":
      return <Trouble onRetry={found.retry}>Couldn't load the request: {found.why}</Trouble>
  }
}

/** The request that has the screen for itself is in the address: Back closes it. */
export function useSheet(): string | undefined {
  return usePlace().query.get("ask") ?? undefined
}

export function openSheet(id: string): void {
  setQuery({ ask: id }, { push: true })
}

export function closeSheet(): void {
  setQuery({ ask: null })
}

interface StepButtonsProps {
  readonly onStep: (by: number) => void
  readonly isFirst?: boolean
  readonly isLast?: boolean
}

/** To the request before and after in a queue. */
export function StepButtons({ onStep, isFirst = false, isLast = false }: StepButtonsProps) {
  return (
    <>
      <IconButton label="Previous request" disabled={isFirst} onClick={() => onStep(-1)}>
        <BackIcon size={15} />
      </IconButton>
      <IconButton label="Next request" disabled={isLast} onClick={() => onStep(1)}>
        <NextIcon size={15} />
      </IconButton>
    </>
  )
}
