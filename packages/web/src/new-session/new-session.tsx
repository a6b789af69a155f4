import { useEffect, useState } from "react"
import { useCanOperate } from "../app/hub-context.ts"
import { closeOver, type Place, useOver } from "../app/router.tsx"
import { useTitleOver } from "../app/screen.tsx"
import { Dialog } from "../design/dialog.tsx"
import { Empty, Skeleton } from "../design/notice.tsx"
import { useMachines } from "../fleet/machine-store.tsx"
import { LaunchForm } from "./launch-form.tsx"

const TITLE = "New session"

/** A page on a phone; where there is room, over the screen it was opened from. */
export function NewSession({ isPhone }: { readonly isPhone: boolean }) {
  const over = useOver()
  const [isHeld, setHeld] = useState(false)
  const isOpen = over !== undefined
  useEffect(() => setHeld(false), [isOpen])
  const content = over !== undefined && <Content place={over} onHold={setHeld} isDialog={!isPhone} />
  if (!isPhone) {
    return (
      // It stays while it is closed: the browser returns the focus to where it was.
      <Dialog
        title={TITLE}
        open={isOpen}
        onClose={closeOver}
        hasAddress
        isHeld={isHeld}
        className="top-[4vh]! max-h-[92vh]! max-w-2xl"
      >
        <div data-region="content" className="min-h-0 scroll-pb-16 overflow-y-auto px-4 pt-1 pb-4">
          {content}
        </div>
      </Dialog>
    )
  }
  if (!isOpen) return null
  return (
    <div data-region="content" className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto flex max-w-2xl flex-col gap-4 px-4 py-4">
        <h1 className="text-page font-bold">{TITLE}</h1>
        {content}
      </div>
    </div>
  )
}

interface ContentProps {
  readonly place: Place
  readonly isDialog: boolean
  /** Holds the dialog open while closing it would lose something: a launch under way, or a command that is shown once. */
  readonly onHold: (isHeld: boolean) => void
}

function Content({ place, isDialog, onHold }: ContentProps) {
  useTitleOver(TITLE)
  const canOperate = useCanOperate()
  const { load, all } = useMachines()
  if (!canOperate) return <Empty>View only. Operators can start sessions.</Empty>
  // Without an answer there is no machine to choose: an agent can still be brought by hand.
  if (load === "loading") return <Skeleton rows={4} />
  return (
    <LaunchForm key={String(place.query)} query={place.query} machines={all} takesFocus={isDialog} onHold={onHold} />
  )
}
