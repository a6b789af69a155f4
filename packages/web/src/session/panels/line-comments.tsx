import { createValueStore } from "../../app/value-store.ts"
import type { DiffLine } from "../../transcript/content/line-diff.ts"

/** What somebody has to say to one line of a change. */
export interface LineComment {
  readonly path: string
  /** Line number in the file as it is now; a deleted line has its old number. */
  readonly line: number
  readonly kind: DiffLine["kind"]
  /** What stands there. */
  readonly code: string
  readonly words: string
}

type Place = Pick<LineComment, "path" | "line" | "kind">

export function isSamePlace(a: Place, b: Place): boolean {
  return a.path === b.path && a.line === b.line && (a.kind === "removed") === (b.kind === "removed")
}

/** One to a line; without words it is taken back. */
export function withComment(comments: readonly LineComment[], comment: LineComment): readonly LineComment[] {
  const others = comments.filter((other) => !isSamePlace(other, comment))
  return comment.words.trim() === "" ? others : [...others, comment]
}

/** All of them as one message, in the order of the files. */
export function messageOf(comments: readonly LineComment[]): string {
  const sorted = comments.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
  const parts = sorted.map(({ path, line, kind, code, words }) => {
    const place = `${path}:${line}${kind === "removed" ? " (a line that was removed)" : ""}`
    return `${place}\n> ${code.trim()}\n${words.trim()}`
  })
  return [comments.length === 1 ? "A comment on your changes:" : "Comments on your changes:", ...parts].join("\n\n")
}

/** What is written and not sent yet, by session: closing the panel does not lose it. Of the last few sessions. */
export const lineComments = createValueStore<ReadonlyMap<string, readonly LineComment[]>>(new Map())
const MAX_SESSIONS = 20

export function setComments(session: string, comments: readonly LineComment[]): void {
  const others = [...lineComments.get()].filter(([id]) => id !== session).slice(-MAX_SESSIONS + 1)
  lineComments.set(new Map(comments.length === 0 ? others : [...others, [session, comments] as const]))
}
