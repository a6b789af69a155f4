/** A line of an agent's text as a person would say it: without the marks of a table, a heading, a list or an emphasis. */
export function plainLine(line: string): string {
  const text = line.trim()
  const cells = text.startsWith("|") ? text.split("|").map((cell) => cell.trim()) : [text]
  return (
    cells
      .map((cell) => cell.replace(BLOCK_MARK, "").replaceAll(EMPHASIS, "$2").replaceAll(LINK, "$1").replaceAll("`", ""))
      .filter((cell) => /[\p{L}\p{N}]/u.test(cell))
      .join(", ")
      // The hub tells the end of a long line: it may begin in the middle of a sentence.
      .replace(/^[\s.,;:!?)\]]+/, "")
  )
}

/** A quote, a heading, a list item with or without its box, at the beginning. */
const BLOCK_MARK = /^(?:>\s*|#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)+/
const EMPHASIS = /(\*\*|__|~~)(?=\S)(.+?)\1/g
const LINK = /\[([^\]]+)\]\([^)\s]*\)/g
