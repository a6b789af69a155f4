import type { Ask } from "@signalbox/client"
import { type PointerEvent, useEffect, useId, useRef, useState } from "react"
import { useFleet, useMe } from "../app/hub-context.ts"
import { setQuery } from "../app/router.tsx"
import { IconButton } from "../design/button.tsx"
import { SLIDING } from "../design/dialog.tsx"
import { CloseIcon } from "../design/icons.tsx"
import { useAnswerState } from "./answer/send-answer.ts"
import { AskCard } from "./ask-card.tsx"
import { OutcomeStrip } from "./ask-outcome.tsx"
import {
  AbsentAsk,
  closeSheet,
  type Lingering,
  StepButtons,
  useFoundAsk,
  useLingering,
  useSheet,
  useShownAsk,
} from "./shown-ask.tsx"

/** So far down, and the sheet is put away. Nothing is answered by it. */
const SWIPE_PX = 80

interface AskSheetProps {
  /** Requests that can be gone through from here. */
  readonly queue: readonly Ask[]
}

/** A request with the screen for itself: on a phone the way to decide, elsewhere for what needs the room. Back closes it. */
export function AskSheet({ queue }: AskSheetProps) {
  const id = useSheet()
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const isOpen = id !== undefined
  useEffect(() => {
    const element = dialog.current
    if (isOpen && element?.open === false) {
      element.showModal()
      // The request's own keys are there at once; so is the moment in which they do not count.
      element.querySelector<HTMLElement>("[data-ask]")?.focus()
    } else if (!isOpen && element?.open === true) element.close()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault()
        closeSheet()
      }}
      className={`${SLIDING} starting:translate-y-full fixed inset-0 m-0 hidden h-dvh max-h-none w-full max-w-none flex-col overflow-hidden border-0 bg-surface p-0 text-text outline-none open:flex`}
    >
      {id !== undefined && <SheetBody id={id} queue={queue} titleId={title} />}
    </dialog>
  )
}

function SheetBody({ id: wanted, queue, titleId }: AskSheetProps & { readonly id: string; readonly titleId: string }) {
  const { asks } = useFleet()
  const me = useMe()
  const { id = wanted, answered } = useShownAsk({
    asks,
    open: queue,
    me: me.name,
    shown: wanted,
    isLinked: true,
    show: showInSheet,
  })
  const found = useFoundAsk(id)
  const index = queue.findIndex((one) => one.id === id)
  const step = (by: number) => showInSheet(queue[(index + by + queue.length) % queue.length]?.id)
  const swipe = useSwipeDown(closeSheet)
  const pointer = useClosedAfter(id, found.name === "found" && found.ask.state !== "pending" && queue.length === 0)
  return (
    <>
      <div {...swipe} className="flex shrink-0 touch-none items-center gap-2 border-b border-line px-3 py-1">
        <h2 id={titleId} className="min-w-0 flex-1 truncate font-medium text-text-2">
          {queue.length > 1 && index !== -1 ? `Request ${index + 1} of ${queue.length}` : "Request"}
        </h2>
        {queue.length > 1 && <StepButtons onStep={step} />}
        <IconButton label="Close" onClick={closeSheet}>
          <CloseIcon />
        </IconButton>
      </div>
      <div
        // A screen's own keys, such as End, are the request's here.
        data-region="waiting"
        {...pointer}
        className="flex min-h-0 w-full flex-1 flex-col gap-2 overflow-y-auto px-4 pt-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] tablet:px-6"
      >
        <OutcomeStrip id={answered} />
        {found.name === "found" ? <AskCard key={id} ask={found.ask} place="sheet" /> : <AbsentAsk found={found} />}
      </div>
    </>
  )
}

function showInSheet(id: string | undefined): void {
  if (id !== undefined) setQuery({ ask: id })
}

/** Answered from here, and nothing else waits: it goes by itself once that was read. */
function useClosedAfter(id: string, isLast: boolean): Lingering["pointer"] {
  const isDone = useAnswerState(id).name === "answered" && isLast
  const { isOver, pointer } = useLingering(isDone ? id : undefined)
  useEffect(() => {
    if (isDone && isOver) closeSheet()
  }, [isDone, isOver])
  return pointer
}

/** A pull on the sheet's head, by a finger. */
function useSwipeDown(onSwipe: () => void) {
  const [from, setFrom] = useState<number | undefined>(undefined)
  return {
    onPointerDown: (event: PointerEvent) => setFrom(event.pointerType === "touch" ? event.clientY : undefined),
    onPointerUp: (event: PointerEvent) => {
      if (from !== undefined && event.clientY - from > SWIPE_PX) onSwipe()
      setFrom(undefined)
    },
    onPointerCancel: () => setFrom(undefined),
  }
}
