import type { DiffLine } from "../../transcript/content/line-diff.ts"

/** A message is no place for a minified line. */
const MAX_CODE = 300

/** A comment on a line of a change, as it goes into a message: where, what stands there, and what is said about it. */
export function commentText(path: string, line: DiffLine, words: string): string {
  const place = `${path}:${numberOf(line)}${line.kind === "removed" ? " (a line that was removed)" : ""}`
  const code = line.text.trim()
  return `${place}\n> ${code.length > MAX_CODE ? `${code.slice(0, MAX_CODE)}…` : code}\n${words.trim()}`
}

/** A line's number in the file as it is now; a removed line has its old one. */
export function numberOf({ before, after }: DiffLine): number {
  return after ?? before ?? 0
}

/** The agent may go on changing the file: a line is the one with its number. A removed line and the one in its place are two. */
export function isSameLine(a: DiffLine, b: DiffLine): boolean {
  return numberOf(a) === numberOf(b) && (a.kind === "removed") === (b.kind === "removed")
}

/** A comment that is being written. */
export interface LineComment {
  readonly line: DiffLine
  readonly words: string
}

/** One more line to comment on. Fields that were left empty go; words of other lines stay. Pure. */
export function withLine(comments: readonly LineComment[], line: DiffLine): readonly LineComment[] {
  const isOpen = comments.some((other) => isSameLine(other.line, line))
  const written = comments.filter(({ words, line: other }) => words.trim() !== "" || isSameLine(other, line))
  return isOpen ? written : [...written, { line, words: "" }]
}
