import type { Session } from "@signalbox/client"
import { oneLine } from "../design/visible-text.tsx"
import { plural, shortPath } from "../design/words.ts"

/** A session by a name, also when nobody gave it one. */
export function titleOf({ title, cwd, id }: Pick<Session, "title" | "cwd" | "id">): string {
  const named = title === null ? "" : oneLine(title, 200)
  if (named !== "") return named
  return cwd === null ? `Session ${id.slice(0, 8)}` : `Session in ${shortPath(cwd, 1)}`
}

/** The effect of archiving a session that waits. */
export function archiveConsequence({ pendingAsks }: Pick<Session, "pendingAsks">): string {
  return `${plural(pendingAsks, "open request")} will stay open. The session stays in the list until answered.`
}

/** The effect of stopping a session, for somebody who is about to. */
export function stopConsequence({
  state,
  pendingAsks,
  runner,
}: Pick<Session, "state" | "pendingAsks" | "runner">): string {
  const isBusy = state === "running" || state === "waiting"
  return [
    isBusy ? "This stops the agent in the middle of a turn." : "This stops the agent.",
    ...(pendingAsks === 0 ? [] : [`${plural(pendingAsks, "open request")} will stay unanswered.`]),
    runner === null
      ? "History is kept. An external agent can't be resumed from here."
      : "History is kept; send a message to resume.",
  ].join(" ")
}

/** How a process ended: the reason, and its code or its signal where the reason does not tell it. */
export function exitWords(exit: Session["exit"]): string {
  const reason = oneLine(exit?.reason ?? "process ended", 200)
  const how = exit?.code === undefined ? oneLine(exit?.signal ?? "", 20) : `code ${exit.code}`
  return reason.includes(how) ? reason : `${reason} (${how})`
}
