import { oneLine } from "../design/visible-characters.ts"
import { age, clockTime } from "../design/words.ts"
import { summaryOf } from "../fleet/ask-words.ts"
import { isSilent } from "../fleet/session-status.tsx"
import { failureLine } from "./failure-line.ts"
import { plainLine } from "./plain-line.ts"
import type { SessionEntry } from "./session-sections.ts"

/** The last thing of it that means something: what it asks, where it failed, what it said. */
export function lastLineOf({ ask, session, status }: SessionEntry): string {
  if (ask !== undefined) return summaryOf(ask)
  if (status === "starting") return "Waiting for its agent"
  if (status === "failed") return failureLine(session)
  return oneLine(plainLine(session.lastLine ?? ""), 200)
}

/** For how long it is as it is; of a machine that is away, as of when that is known. */
export function sinceWords(entry: SessionEntry, now: number): string {
  const { runnerSeenAt } = entry.session
  if (isSilent(entry.session, now) && runnerSeenAt !== undefined) return `as of ${clockTime(Date.parse(runnerSeenAt))}`
  return age(Date.parse(sinceOf(entry)), now)
}

function sinceOf({ ask, session, status }: SessionEntry): string {
  if (ask !== undefined) return ask.askedAt
  return status === "running" ? (session.turnStartedAt ?? session.updatedAt) : session.updatedAt
}
