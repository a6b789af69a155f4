import type { Session } from "@signalbox/client"
import { useState } from "react"
import { useConnection } from "../app/hub-context.ts"
import { Button } from "../design/button.tsx"
import { endDemo, isDemo } from "../fleet/demo.ts"

/** Above the request of a demo: what it shows, and how to see that nothing is lost. */
export function DemoHint({ session }: { readonly session: Session }) {
  const [isShown, setShown] = useState(() => isDemo(session.id))
  const isAway = useConnection().name === "lost"
  if (!isShown) return null
  return (
    <aside
      aria-label="Demo"
      className="mx-auto flex w-full max-w-4xl shrink-0 items-start gap-3 border-t border-line px-3 py-2 text-dense text-text-2 tablet:px-6"
    >
      <p className="min-w-0 flex-1">{wordsFor(session, isAway)}</p>
      <Button
        look="quiet"
        onClick={() => {
          endDemo()
          setShown(false)
        }}
      >
        Got it
      </Button>
    </aside>
  )
}

function wordsFor({ pendingAsks }: Session, isAway: boolean): string {
  if (isAway) return "The hub is gone; the agent isn't. Start the hub again: this page reconnects by itself."
  if (pendingAsks > 0)
    return "The agent waits for you. Answer below, or first kill the hub (Ctrl+C or kill -9) and start it again: the request will still be here."
  return "Nothing is lost when the hub dies: send another message with the word “permission”, kill the hub while it waits, and start it again."
}
