import type { Entry, MessagesRequest } from "./request.ts"

/** What a request brings that the one before it in the same conversation did not. */
export interface FreshInput {
  texts: string[]
  toolResults: string[]
  /** Results of tools that failed. */
  failedResults: string[]
}

/** What must be kept of a request to tell what the next one adds. */
export type Tail = FreshInput & { assistantEntries: number }

/**
 * Everything after the model's last word. The user's text is not always in the last entry, and a CLI adds notes of its
 * own, in entries with the role `system` and in marked parts of the user's.
 */
export function tailOf(request: MessagesRequest): Tail {
  const entries = request.entries
  const last = entries.findLastIndex((entry) => entry.role === "assistant")
  const after = entries.slice(last + 1).filter((entry) => entry.role === "user")
  return {
    assistantEntries: entries.filter((entry) => entry.role === "assistant").length,
    texts: after.flatMap(spokenTexts),
    toolResults: after.flatMap((entry) => entry.toolResults),
    failedResults: after.flatMap((entry) => entry.failedResults),
  }
}

/**
 * After a call that failed, was refused or interrupted the tail still holds what had been said before it: the model's
 * side has no new entry. Only then is the old part taken off.
 */
export function freshSince(before: Tail | undefined, now: Tail): FreshInput {
  if (before === undefined || before.assistantEntries !== now.assistantEntries) return now
  const toolResults = without(now.toolResults, before.toolResults)
  return { texts: without(now.texts, before.texts), toolResults, failedResults: now.failedResults }
}

/** What the user said, apart from the notes. */
export function spokenTexts(entry: Entry): string[] {
  return entry.texts
    .map((text) => text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, spokenInNote).trim())
    .filter((text) => text !== "")
}

/** The end of a task comes inside a note, and is what the turn is about. */
function spokenInNote(note: string): string {
  return /<task-notification>[\s\S]*?<\/task-notification>/.exec(note)?.[0] ?? ""
}

function without(list: readonly string[], known: readonly string[]): string[] {
  const left = [...known]
  return list.filter((item) => {
    const at = left.indexOf(item)
    if (at === -1) return true
    left.splice(at, 1)
    return false
  })
}
