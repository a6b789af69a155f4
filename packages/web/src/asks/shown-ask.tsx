import type { Ask } from "@signalbox/client"
import { useEffect, useRef, useState } from "react"
import { answerStateOf } from "./answer/answer-states.ts"
import { noteSettled } from "./answer/use-arming.ts"
import { nextAfter } from "./inbox/inbox.ts"
import { type Lingering, useLingering } from "./use-lingering.ts"

interface Queue {
  readonly asks: ReadonlyMap<string, Ask>
  /** What waits, in its order. */
  readonly open: readonly Ask[]
  readonly me: string
  readonly shown: string | undefined
  /** The address names it: it stays, whatever becomes of it, until this page answered it. */
  readonly isLinked: boolean
  readonly show: (id: string | undefined) => void
}

export interface ShownAsk {
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
  const { isOver, pointer } = useLingering(isLinked ? undefined : settled?.id, open.length > 0)
  const isMine = settled !== undefined && seenOpen.current === settled.id && isAnsweredHere(settled, me)
  const next = settled === undefined ? open[0] : nextAfter(settled.id, order.current, open)
  const makesRoom = settled !== undefined && ((isMine && next !== undefined) || (!isLinked && isOver))
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
