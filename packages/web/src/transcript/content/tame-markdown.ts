/** Deeper than anybody writes; the parser's time grows with the square of it and worse. */
const MAX_QUOTES = 20
const MAX_INDENT = 60
/** Bound on one paragraph: the parser searches it to its end for each mark that never closes. */
const MAX_PARAGRAPH_CHARS = 20_000

/** Whether a text can be read as markdown in reasonable time. Hostile ones are shown as they are. */
export function isTame(text: string): boolean {
  let paragraph = 0
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const mark = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined
      continue
    }
    if (mark !== undefined) {
      fence = mark
      paragraph = 0
      continue
    }
    paragraph = line.trim() === "" ? 0 : paragraph + line.length
    if (paragraph > MAX_PARAGRAPH_CHARS || isDeep(line)) return false
  }
  return true
}

function isDeep(line: string): boolean {
  const [lead = ""] = /^[\s>]*/.exec(line) ?? []
  const quotes = lead.replaceAll(/[^>]/g, "").length
  const bullets = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+){12}/.test(line)
  return quotes > MAX_QUOTES || (lead.length > MAX_INDENT && /^[-*+\d]/.test(line.slice(lead.length))) || bullets
}
