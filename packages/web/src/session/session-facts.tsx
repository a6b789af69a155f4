import type { Session } from "@signalbox/client"
import { tokenWords } from "@signalbox/transcript"
import { useNow } from "../app/clock.ts"
import { copyText } from "../app/copy-text.ts"
import { EyeIcon } from "../design/icons.tsx"
import { clockTime, money } from "../design/words.ts"
import { FolderName } from "../fleet/folder-name.tsx"
import type { LimitUse } from "../fleet/limit-use.ts"
import { MachineName } from "../fleet/machine-name.tsx"
import { isSilent } from "../fleet/session-status.tsx"
import { ContextMeter } from "./context-meter.tsx"
import { LimitMeter } from "./limit-meter.tsx"
import type { ContextFill } from "./meters.tsx"
import { OriginLink, useOrigin } from "./session-origin.tsx"
import { Steering } from "./steering.tsx"

interface SessionFactsProps {
  readonly session: Session
  readonly fill: ContextFill | undefined
  readonly use: LimitUse | undefined
  readonly onTrouble: (why: string | undefined) => void
}

const QUIET_SELECT =
  "field-sizing-content min-h-7! shrink-0 border-transparent! bg-transparent! px-1! py-0! text-dense! hover:bg-sunken! coarse:min-h-11!"

/** The header's second line where it is wide. The folder gives way first; "About this session" has all of it. */
export function SessionFacts({ session, fill, use, onTrouble }: SessionFactsProps) {
  const isAway = isSilent(session, useNow())
  const origin = useOrigin(session)
  return (
    <div className="flex items-center gap-x-4 overflow-x-auto px-4 pt-1 pb-2 text-dense whitespace-nowrap text-text-2 [scrollbar-width:none] @max-xl:hidden @max-3xl:gap-x-3">
      <span className="max-w-40 min-w-8 truncate">
        <MachineName session={session} />
      </span>
      {isAway && session.runnerSeenAt !== undefined && (
        <span className="shrink-0">as of {clockTime(Date.parse(session.runnerSeenAt))}</span>
      )}
      {session.cwd !== null && <Folder session={session} path={session.cwd} />}
      {origin !== undefined && (
        <span className="flex max-w-56 min-w-0 shrink gap-1 @max-4xl:hidden">
          {origin.name} <OriginLink origin={origin} />
        </span>
      )}
      {session.cliVersion !== null && <span className="shrink-0 @max-4xl:hidden">CLI {session.cliVersion}</span>}
      <Steering session={session} onTrouble={onTrouble} place={(_, control) => control} className={QUIET_SELECT} />
      <ContextMeter fill={fill} />
      <LimitMeter use={use} className="shrink-0 @max-4xl:hidden" />
      {session.costUsd > 0 && (
        <span className="shrink-0 tabular-nums" title={tokenWords(session.tokens)}>
          {money(session.costUsd)}
        </span>
      )}
      {session.viewers > 1 && (
        <span className="flex shrink-0 items-center gap-1 tabular-nums">
          <EyeIcon size={14} />
          {session.viewers}
          <span className="sr-only">watching</span>
        </span>
      )}
      {isAway && session.pendingAsks > 0 && (
        <span className="shrink-0 text-danger">machine offline; your answer will wait</span>
      )}
    </div>
  )
}

function Folder({ session, path }: { readonly session: Session; readonly path: string }) {
  return (
    <button
      type="button"
      onClick={() => copyText(path, "Folder copied")}
      title={`${path} (click to copy)`}
      // The end of a path is what tells: what does not fit is left out at its beginning.
      className="min-h-6 min-w-16 truncate rounded-control font-mono text-meta [direction:rtl] hover:underline coarse:min-h-11"
    >
      <FolderName session={session} parts={3} />
    </button>
  )
}
