import { type Ask, HubClientError } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { type RefCallback, useCallback, useLayoutEffect, useRef, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { useCanOperate, useConnection, useHubStore } from "../app/hub-context.ts"
import type { HubStore } from "../app/hub-store.ts"
import { Button } from "../design/button.tsx"
import { focusCard } from "./answer/following-focus.ts"
import { waitWords } from "./request-words.ts"
import { timeLeft } from "./time-left.ts"

type Asking =
  | { readonly name: "ready" }
  | { readonly name: "sending" }
  /** Until when it was to be, and why it was not put off. */
  | { readonly name: "failed"; readonly until: string; readonly why: string }

/** Beside the time that is left: as much again. Only where the rule allows it still. */
export function MoreTime({ ask }: { readonly ask: Ask }) {
  const store = useHubStore()
  const canOperate = useCanOperate()
  const isLive = useConnection().name === "live"
  const [asking, setAsking] = useState<Asking>({ name: "ready" })
  const { expiresAt, extension } = ask
  const isSpent = ask.state === "pending" && extension?.left === 0 && asking.name === "ready"
  const button = useFocusOnCardWhen(isSpent, ask.id)
  if (!canOperate || ask.state !== "pending" || expiresAt === undefined || extension === undefined) return null
  if (isSpent) return null
  const canAct = isLive && asking.name !== "sending" && extension.left > 0
  const extend = async () => {
    if (!canAct) return
    setAsking({ name: "sending" })
    const why = await moreTime(store, ask.id, expiresAt)
    setAsking(why === undefined ? { name: "ready" } : { name: "failed", until: expiresAt, why })
  }
  return (
    <>
      <Button
        ref={button}
        aria-disabled={!canAct}
        title={`${waitWords(extension.byMs)} more`}
        onClick={() => void extend()}
        className="min-h-6! px-2! py-0! text-meta! coarse:min-h-11!"
      >
        More time
      </Button>
      {asking.name === "failed" && asking.until === expiresAt && (
        <span role="alert" className="text-danger">
          Not extended: {asking.why}
        </span>
      )}
    </>
  )
}

/** The last one given, the button goes: where the focus goes with it, the card has it then. */
function useFocusOnCardWhen(isSpent: boolean, askId: string): RefCallback<HTMLButtonElement> {
  const hadFocus = useRef(false)
  useLayoutEffect(() => {
    if (isSpent && hadFocus.current) focusCard(askId)
    hadFocus.current = false
  }, [isSpent, askId])
  return useCallback((button: HTMLButtonElement) => {
    return () => {
      // Still in the page, and gone in a moment.
      hadFocus.current = document.activeElement === button
    }
  }, [])
}

/** Why not, or undefined. With the end that was seen: pressed by two at once, or sent twice, it is given once. */
async function moreTime(store: HubStore, id: string, expiresAt: string): Promise<string | undefined> {
  try {
    const longer = await store.hub.extend(id, { expiresAt })
    store.takeAsk(longer)
    announce(`More time: expires ${timeLeft(Date.parse(longer.expiresAt ?? "") - Date.now())}`)
    return undefined
  } catch (error) {
    const known = error instanceof HubClientError ? error.details["ask"] : undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub's word on its own ask: the contract says what it is
    if (isObject(known)) store.takeAsk(known as unknown as Ask)
    return error instanceof Error ? error.message : String(error)
  }
}
