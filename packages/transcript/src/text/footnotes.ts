/** As in `[^note]`. */
const MARK = String.raw`\[\^([^\]\s^]{1,40})\]`
const DEFINITION = new RegExp(String.raw`^ {0,3}${MARK}:[ \t]*(.*)$`, "u")
const FENCE = /^\s{0,3}(```+|~~~+)/u
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
/** More than anybody writes. */
const MAX_NOTES = 200

/**
 * Markdown without footnotes: a reference becomes a raised number, and the notes stand at the end behind their numbers, in the
 * order in which they are referred to. A reference without a note stays as it is, and so does code.
 */
export function withoutFootnotes(text: string): string {
  if (!text.includes("[^")) return text
  const { lines, notes } = takeDefinitions(text.split("\n"))
  if (notes.size === 0) return text
  const numbers = new Map<string, number>()
  const numberOf = (name: string) => {
    const known = numbers.get(name) ?? numbers.size + 1
    numbers.set(name, known)
    return raised(known)
  }
  const body = eachOutsideCode(lines, (line) => marked(line, notes, numberOf))
  // Notes may refer to notes: those that nobody refers to come last.
  const listed = new Set<string>()
  const list: string[] = []
  for (const name of [...numbers.keys(), ...notes.keys()]) {
    if (listed.has(name)) continue
    listed.add(name)
    list.push(`${numberOf(name)} ${marked(notes.get(name) ?? "", notes, numberOf)}`)
  }
  return `${body.join("\n").trimEnd()}\n\n---\n\n${list.join("\n\n")}\n`
}

function takeDefinitions(all: readonly string[]): { lines: string[]; notes: Map<string, string> } {
  const notes = new Map<string, string>()
  const lines: string[] = []
  /** The note that indented lines go on with. */
  let open: string | undefined
  eachOutsideCode(all, (line, isCode) => {
    const [, name, text] = isCode ? [] : (DEFINITION.exec(line) ?? [])
    // A second note of one name stays where it stands: nothing that was written may be lost.
    if (name !== undefined && text !== undefined && notes.size < MAX_NOTES && !notes.has(name)) {
      open = name
      notes.set(name, text)
    } else if (open !== undefined && !isCode && /^(?: {2,}|\t)\S/u.test(line)) {
      notes.set(open, `${notes.get(open) ?? ""} ${line.trim()}`)
    } else {
      open = undefined
      lines.push(line)
    }
    return line
  })
  return { lines, notes }
}

/** Code between fences is left alone. */
function eachOutsideCode(lines: readonly string[], change: (line: string, isCode: boolean) => string): string[] {
  let fence: string | undefined
  return lines.map((line) => {
    const mark = FENCE.exec(line)?.[1]
    const isCode = fence !== undefined || mark !== undefined
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) === true) fence = undefined
    const changed = change(line, isCode)
    return isCode ? line : changed
  })
}

function marked(line: string, notes: ReadonlyMap<string, string>, numberOf: (name: string) => string): string {
  // Text between backticks is code.
  const parts = line.split(/(`+[^`]*`+)/u)
  return parts
    .map((part) =>
      part.startsWith("`")
        ? part
        : part.replaceAll(new RegExp(MARK, "gu"), (whole, name: string) => (notes.has(name) ? numberOf(name) : whole)),
    )
    .join("")
}

function raised(number: number): string {
  return Array.from(String(number), (digit) => RAISED[Number(digit)] ?? digit).join("")
}
