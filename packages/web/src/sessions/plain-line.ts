/** A line of an agent's text as a person would say it: without the marks of a table, a heading, a list or an emphasis. */
export function plainLine(line: string): string {
  const text = line.trim().slice(0, MAX_CHARS)
  const cells = text.startsWith("|") ? text.split("|").map((cell) => cell.trim()) : [text]
  return (
    cells
      .map(plainCell)
      .filter((cell) => /[\p{L}\p{N}]/u.test(cell))
      .join(", ")
      // The hub tells the end of a long line: it may begin in the middle of a sentence.
      .replace(/^[\s.,;:!?)\]]+/, "")
  )
}

/** More than is shown of it anywhere, and little enough for any text. */
const MAX_CHARS = 500

/** A quote, a heading, a list item with or without its box, at the beginning. */
const BLOCK_MARK = /^(?:>\s*|#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)+/
const HEADING_END = /^(#{1,6}\s.*?)\s+#+$/
/** Code, and a mark that was meant as itself: what they hold is left as it is. */
const VERBATIM = /(`+)(.+?)\1|\\([\\`*_{}[\]()#+.!|~>-])/g
const LINK = /!?\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)|<((?:https?|mailto):[^>\s]+)>/g
const STRONG = /(\*\*\*|\*\*|__|~~)(?=\S)(.+?)\1/g
/** Not within a word: `snake_case` and `2*3*4` are no emphasis. */
const EMPHASIS = /(?<![\w*])(\*|_)(?=[^\s*_])([^*_]*?[^\s*_])\1(?![\w*])/g
/** One whose other half is elsewhere, as the line was cut. */
const HALF = /(?<![\w*])(?:\*\*|~~)(?=\S)|(?<=\S)(?:\*\*|~~)(?![\w*])|`/g

function plainCell(cell: string): string {
  const verbatim: string[] = []
  const masked = cell
    .replaceAll("\0", "")
    .replace(HEADING_END, "$1")
    .replaceAll(VERBATIM, (_whole, _ticks, code: string | undefined, mark: string | undefined) => {
      verbatim.push(code?.trim() ?? mark ?? "")
      return "\0"
    })
  return masked
    .replace(BLOCK_MARK, "")
    .replaceAll(LINK, (_whole, words: string | undefined, address: string | undefined) => words ?? address ?? "")
    .replaceAll(STRONG, "$2")
    .replaceAll(EMPHASIS, "$2")
    .replaceAll(HALF, "")
    .replaceAll("\0", () => verbatim.shift() ?? "")
}
