import type { Session } from "@signalbox/client"
import { plural } from "../design/words.ts"
import { titleOf } from "../fleet/session-words.ts"
import type { BulkResult } from "./selection.ts"

export type BulkAction = "archive" | "unarchive" | "stop" | "message"

const DONE: Readonly<Record<BulkAction, string>> = {
  archive: "archived",
  unarchive: "unarchived",
  stop: "stopped",
  message: "messaged",
}

const DOING: Readonly<Record<BulkAction, string>> = {
  archive: "Archiving",
  unarchive: "Unarchiving",
  stop: "Stopping",
  message: "Sending to",
}

/** The sessions that an action can be done to: one that has ended is not stopped again. */
export function targetsOf(action: BulkAction, sessions: readonly Session[]): readonly Session[] {
  if (action === "archive") return sessions.filter(({ archived }) => !archived)
  if (action === "unarchive") return sessions.filter(({ archived }) => archived)
  return action === "stop" ? sessions.filter(({ state }) => state !== "ended") : sessions
}

export function progressWords(action: BulkAction, finished: number, total: number): string {
  return `${DOING[action]} ${plural(total, "session")}: ${finished} done…`
}

/** "3 of 4 archived." Why the others were not is told beside it, each by its name. */
export function resultWords(action: BulkAction, { done, refused }: BulkResult): string {
  const total = done.length + refused.length
  const count = refused.length === 0 ? plural(total, "session") : `${done.length} of ${total}`
  return `${count} ${DONE[action]}.`
}

/** The refusals, those for the same reason together, and no more reasons than can be read at a glance. */
export function refusalWords(
  { refused }: BulkResult,
  sessions: ReadonlyMap<string, Session>,
): readonly { readonly names: string; readonly why: string }[] {
  const byReason = new Map<string, string[]>()
  for (const { id, why } of refused) {
    const session = sessions.get(id)
    const name = session === undefined ? id.slice(0, 8) : titleOf(session)
    byReason.set(why, [...(byReason.get(why) ?? []), name])
  }
  return [...byReason].slice(0, MAX_REASONS).map(([why, names]) => ({
    names:
      names.length <= MAX_NAMES
        ? names.join(", ")
        : `${names.slice(0, MAX_NAMES).join(", ")} and ${names.length - MAX_NAMES} more`,
    why,
  }))
}

const MAX_NAMES = 5
const MAX_REASONS = 4

/** The consequence of stopping or archiving all of them; empty when there is nothing to know. */
export function bulkConsequence(action: BulkAction, sessions: readonly Session[]): string {
  const asks = sessions.reduce((sum, { pendingAsks }) => sum + pendingAsks, 0)
  if (action === "archive") {
    return asks === 0
      ? ""
      : `${plural(asks, "open request")} will stay open. Sessions with open requests stay in the list.`
  }
  if (action !== "stop") return ""
  const busy = sessions.filter(({ state }) => state === "running" || state === "waiting").length
  const external = sessions.filter(({ runner }) => runner === null).length
  return [
    `This stops ${plural(sessions.length, "agent")}${busy === 0 ? "" : `, ${busy} in the middle of a turn`}.`,
    ...(asks === 0 ? [] : [`${plural(asks, "open request")} will stay unanswered.`]),
    "History is kept; send a message to resume.",
    ...(external === 0 ? [] : [`${plural(external, "external agent")} can't be resumed from here.`]),
  ].join(" ")
}
