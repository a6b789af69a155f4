import type { Session } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { oneLine } from "../design/visible-text.tsx"
import { plural, shortPath } from "../design/words.ts"

/** A session by a name, also when nobody gave it one. */
export function titleOf({ title, cwd, id }: Pick<Session, "title" | "cwd" | "id">): string {
  const named = title === null ? "" : oneLine(title, 200)
  if (named !== "") return named
  return cwd === null ? `Session ${id.slice(0, 8)}` : `Session in ${shortPath(cwd, 1)}`
}

/** What archiving a session that waits comes to. */
export function archiveConsequence({ pendingAsks }: Pick<Session, "pendingAsks">): string {
  return `${plural(pendingAsks, "open question")} will go on waiting for an answer. Until then it stays in the list.`
}

/** What stopping a session comes to, for whoever is about to. */
export function stopConsequence({
  state,
  pendingAsks,
  runner,
}: Pick<Session, "state" | "pendingAsks" | "runner">): string {
  const isBusy = state === "running" || state === "waiting"
  return [
    isBusy ? "Its agent is ended in the middle of a turn: what it is doing is cut off." : "Its agent is ended.",
    ...(pendingAsks === 0 ? [] : [`${plural(pendingAsks, "open question")} will stay unanswered.`]),
    runner === null
      ? "Its history stays. An agent that was started by hand does not come back."
      : "Its history stays, and a new message brings it back on its machine.",
  ].join(" ")
}

/** How a process ended: the reason, and its code or its signal where the reason does not tell it. */
export function exitWords(exit: Readonly<Record<string, unknown>> | undefined): string {
  const reason = oneLine(textOf(exit, "reason") ?? "its process ended", 200)
  const code = exit?.["code"]
  const signal = textOf(exit, "signal")
  const how = typeof code === "number" ? `code ${code}` : signal === undefined ? "" : oneLine(signal, 20)
  return reason.includes(how) ? reason : `${reason} (${how})`
}
