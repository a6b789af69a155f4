import type { Ask } from "@signalbox/client"
import { useNow } from "../app/clock.ts"
import { useSession } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { age } from "../design/words.ts"
import { headingOf } from "../fleet/ask-words.ts"
import { MachineName } from "../fleet/machine-name.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { AskAgent } from "./ask-agent.tsx"
import { MoreTime } from "./more-time.tsx"
import { settledWords } from "./request-words.ts"
import { timeLeft } from "./time-left.ts"

interface AskHeadingProps {
  readonly ask: Ask
  /** Away from its session: which one it is must be said. */
  readonly showSession: boolean
}

/** What is asked, by whom, where, since when and until when. */
export function AskHeading({ ask, showSession }: AskHeadingProps) {
  const now = useNow()
  const session = useSession(ask.sessionId)
  const settled = settledWords(ask, now)
  const place = `/s/${encodeURIComponent(ask.sessionId)}?seq=${ask.seq}`
  return (
    <div className="flex shrink-0 flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <h3 className="text-prose font-bold">
        <bdi>{headingOf(ask)}</bdi>
      </h3>
      <p className="flex flex-wrap items-center gap-x-2 text-meta text-text-3">
        <Link href={place} className="inline-flex min-h-6 items-center underline coarse:min-h-11 coarse:min-w-11">
          <bdi>{showSession && session !== undefined ? titleOf(session) : "In the transcript"}</bdi>
        </Link>
        {session !== undefined && <MachineName session={session} />}
        <AskAgent ask={ask} />
        <span className="tabular-nums">asked {age(Date.parse(ask.askedAt), now)} ago</span>
        <Expiry ask={ask} now={now} />
        <MoreTime ask={ask} />
        {settled !== undefined && (
          <time dateTime={ask.settledAt} className="tabular-nums">
            {settled}
          </time>
        )}
      </p>
    </div>
  )
}

/** How long it can still be answered, of those that end by themselves. */
export function Expiry({ ask, now }: { readonly ask: Ask; readonly now: number }) {
  if (ask.expiresAt === undefined || ask.state !== "pending") return null
  return (
    <span className="font-medium text-caution tabular-nums">expires {timeLeft(Date.parse(ask.expiresAt) - now)}</span>
  )
}
