import type { Ask } from "@signalbox/client"
import { useNow } from "../../app/clock.ts"
import { useSession } from "../../app/hub-context.ts"
import { Link } from "../../app/link.tsx"
import { classes } from "../../design/classes.ts"
import { age } from "../../design/words.ts"
import { agentWords, kindWord, summaryOf } from "../../fleet/ask-words.ts"
import { MachineName } from "../../fleet/machine-name.tsx"
import { outcomeVerb } from "../../fleet/outcome-words.ts"
import { titleOf } from "../../fleet/session-words.ts"
import { Expiry } from "../ask-heading.tsx"

interface InboxRowProps {
  readonly ask: Ask
  readonly isChosen: boolean
  readonly href: string
}

export function InboxRow({ ask, isChosen, href }: InboxRowProps) {
  const now = useNow()
  const session = useSession(ask.sessionId)
  const isOpen = ask.state === "pending"
  return (
    <li>
      <Link
        href={href}
        aria-current={isChosen ? "true" : undefined}
        className={classes(
          "flex flex-col gap-0.5 rounded-control px-3 py-2",
          isChosen ? "bg-accent-soft" : "hover:bg-sunken",
        )}
      >
        <span className="flex items-baseline gap-2">
          <span className="shrink-0 rounded-[4px] bg-sunken px-1.5 text-meta font-medium text-text-2">
            {kindWord(ask)}
          </span>
          <bdi className="min-w-0 flex-1 truncate font-mono text-meta">{summaryOf(ask)}</bdi>
          <span className="shrink-0 text-meta text-text-3 tabular-nums">
            {age(Date.parse((isOpen ? undefined : ask.settledAt) ?? ask.askedAt), now)}
          </span>
        </span>
        <span className="flex gap-x-2 text-meta text-text-3">
          <span className="min-w-0 truncate">
            {session === undefined ? (
              ask.sessionId.slice(0, 8)
            ) : (
              <>
                <bdi>{titleOf(session)}</bdi> · <MachineName session={session} />
              </>
            )}
            {` · ${agentWords(ask)}`}
          </span>
          <span className="ms-auto shrink-0">
            {isOpen ? <Expiry ask={ask} now={now} /> : <span className="text-text-2">{outcomeVerb(ask)}</span>}
          </span>
        </span>
      </Link>
    </li>
  )
}
