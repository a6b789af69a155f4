import { navigate } from "../../app/router.tsx"
import { IconButton } from "../../design/button.tsx"
import { BackIcon, NextIcon } from "../../design/icons.tsx"
import { AbsentAsk } from "../absent-ask.tsx"
import { AskCard } from "../ask-card.tsx"
import { OutcomeStrip } from "../ask-outcome.tsx"
import { useFoundAsk } from "../use-found-ask.ts"
import type { Lingering } from "../use-lingering.ts"

interface AskDetailProps {
  readonly id: string
  /** The one before, answered a moment ago. */
  readonly answered: string | undefined
  readonly pointer: Lingering["pointer"]
  readonly position: { readonly index: number; readonly count: number } | undefined
  readonly onStep: (by: number) => void
}

/** The request that was chosen in the inbox. */
export function AskDetail({ id, answered, pointer, position, onStep }: AskDetailProps) {
  const found = useFoundAsk(id)
  return (
    <section
      aria-label="Request"
      data-region="waiting"
      {...pointer}
      className="flex min-h-0 min-w-0 flex-1 flex-col bg-surface"
    >
      {/* Beside the list, the list has it. */}
      <h1 className="sr-only desktop:hidden">Approvals</h1>
      <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1">
        <button
          type="button"
          onClick={() => (history.length > 1 ? history.back() : navigate("/approvals"))}
          className="flex min-h-11 items-center gap-1 rounded-control px-2 text-text-2 desktop:hidden"
        >
          <BackIcon /> Back
        </button>
        {position !== undefined && (
          <span className="ms-auto flex items-center gap-1 text-meta text-text-3 tabular-nums">
            {position.index + 1} of {position.count}
            <IconButton label="Previous request" disabled={position.index === 0} onClick={() => onStep(-1)}>
              <BackIcon size={15} />
            </IconButton>
            <IconButton label="Next request" disabled={position.index === position.count - 1} onClick={() => onStep(1)}>
              <NextIcon size={15} />
            </IconButton>
          </span>
        )}
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-2 overflow-y-auto px-4 py-3 tablet:px-6">
        <OutcomeStrip id={answered} />
        {found.name === "found" ? <AskCard key={id} ask={found.ask} place="page" /> : <AbsentAsk found={found} />}
      </div>
    </section>
  )
}
