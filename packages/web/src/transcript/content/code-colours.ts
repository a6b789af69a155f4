import { type Language, languageNamed } from "./code-languages.ts"
import { type LineColours, TONES, type Tone } from "./code-tones.ts"

/** More colours in one line are of no help to anybody, and each is an element. */
const MAX_COLOURS = 300

/**
 * Colours of a text, line by line; undefined for a language that is not known. One pass from the first character to the last:
 * the time grows with the length, whatever stands there. Only places are told, so no character can be lost or changed.
 */
export function colourLines(text: string, name: string): readonly LineColours[] | undefined {
  const language = languageNamed(name)
  if (language === undefined) return undefined
  const painter = new Painter(text)
  if (language.kind === "diff") paintDiff(painter)
  else if (language.kind === "markup") paintMarkup(painter, language)
  else paintCode(painter, language)
  return painter.finished()
}

/** A text, the place that was reached, and the colours up to there. */
class Painter {
  readonly text: string
  at = 0
  readonly #lines: number[][] = [[]]
  #lineStart = 0
  #newline = -1

  constructor(text: string) {
    this.text = text
  }

  /** Goes on to a place; what lies between has one colour or none. Lines end where they end. */
  to(end: number, tone?: Tone): void {
    const until = Math.min(end, this.text.length)
    while (this.at < until) {
      const stop = Math.min(this.lineEnd(), until)
      const line = this.#lines.at(-1)
      if (tone !== undefined && stop > this.at && line !== undefined && line.length < MAX_COLOURS * 3)
        line.push(this.at - this.#lineStart, stop - this.#lineStart, TONES.indexOf(tone))
      this.at = stop
      if (stop < until) {
        this.at++
        this.#lineStart = this.at
        this.#lines.push([])
      }
    }
  }

  /** The end of this line. It is looked for once: a line may be all there is. */
  lineEnd(): number {
    if (this.#newline < this.at) {
      const found = this.text.indexOf("\n", this.at)
      this.#newline = found === -1 ? this.text.length : found
    }
    return this.#newline
  }

  /** Behind the next place of a text; the end of all where there is none. */
  behind(mark: string, from: number): number {
    const found = this.text.indexOf(mark, from)
    return found === -1 ? this.text.length : found + mark.length
  }

  finished(): readonly LineColours[] {
    this.to(this.text.length)
    return this.#lines
  }
}

function paintCode(painter: Painter, language: Language): void {
  const { text } = painter
  while (painter.at < text.length) {
    const { at } = painter
    if (paintComment(painter, language) || paintQuoted(painter, language)) continue
    if (isDigit(text.charCodeAt(at))) painter.to(numberEnd(text, at), "number")
    else if (isWord(text, at, language)) paintWord(painter, language)
    else if (!paintSigned(painter, language)) painter.to(at + 1)
  }
}

function paintComment(painter: Painter, { lineComments = [], blockComments = [], needsSpace }: Language): boolean {
  const { text, at } = painter
  for (const mark of lineComments)
    if (text.startsWith(mark, at) && (needsSpace !== true || isFree(text, at))) {
      painter.to(painter.lineEnd(), "comment")
      return true
    }
  for (const [open, close] of blockComments)
    if (text.startsWith(open, at)) {
      painter.to(painter.behind(close, at + open.length), "comment")
      return true
    }
  return false
}

/** Nothing but a blank or a bracket stands before this place. */
function isFree(text: string, at: number): boolean {
  return at === 0 || " \t\n;(){}[],=:".includes(text.charAt(at - 1))
}

/** The longest character there is: '\u{10FFFF}' */
const MAX_CHARACTER = 12

function paintQuoted(painter: Painter, language: Language): boolean {
  const { text, at } = painter
  const quote = language.quotes?.find(({ open }) => text.startsWith(open, at))
  if (quote === undefined || (language.hasKeys === true && language.needsSpace === true && !isFree(text, at)))
    return false
  const { open, close, hasEscapes, isLong, isCharacter } = quote
  let end = at + open.length
  // A text that is not closed goes on to the end of its line or text: nothing is looked at twice.
  const last = isCharacter === true ? Math.min(text.length, at + MAX_CHARACTER) : text.length
  const isBreak = (place: number) => !isLong && text.charAt(place) === "\n"
  while (end < last && !text.startsWith(close, end) && !isBreak(end))
    end += hasEscapes && text.charAt(end) === "\\" && !isBreak(end + 1) ? 2 : 1
  const isClosed = end < last && text.startsWith(close, end)
  if (isCharacter === true && (!isClosed || (end - at > 3 && text.charAt(at + 1) !== "\\"))) {
    painter.to(at + 1)
    return true
  }
  end = isClosed ? end + close.length : end
  painter.to(end, language.hasKeys === true && isKey(text, end, language) ? "name" : "string")
  return true
}

/** A colon comes next; in settings also an equals sign, and behind their colon a blank: `https:` is no key. */
function isKey(text: string, end: number, { needsSpace }: Language): boolean {
  let at = end
  while (at < end + 2 && text.charAt(at) === " ") at++
  const [sign, next] = [text.charAt(at), text.charAt(at + 1)]
  if (needsSpace === true) return sign === "=" || (sign === ":" && (next === "" || " \n".includes(next)))
  return sign === ":" && next !== ":"
}

function paintWord(painter: Painter, language: Language): void {
  const { text, at } = painter
  const end = wordEnd(text, at, language)
  const word = text.slice(at, Math.min(end, at + 40))
  const isKeyword = language.keywords?.has(language.isCaseless === true ? word.toLowerCase() : word) === true
  // A property is no keyword, whatever its name.
  const isProperty = text.charAt(at - 1) === "." && text.charAt(at - 2) !== "."
  if (language.hasKeys === true && isKey(text, end, language)) painter.to(end, "name")
  else painter.to(end, isKeyword && !isProperty ? "keyword" : undefined)
}

function paintSigned(painter: Painter, language: Language): boolean {
  const { text, at } = painter
  const tone = language.signed?.[text.charAt(at)]
  if (tone === undefined || !isWord(text, at + 1, language)) return false
  painter.to(wordEnd(text, at + 1, language), tone)
  return true
}

/** A page's source: tags with their attributes; what stands between them is as it is. */
function paintMarkup(painter: Painter, language: Language): void {
  const { text } = painter
  let isInTag = false
  while (painter.at < text.length) {
    const { at } = painter
    if (paintComment(painter, language)) continue
    if (!isInTag) {
      const open = /^<[/?!]?[A-Za-z]/.exec(text.slice(at, at + 3))
      if (open === null) {
        const next = text.indexOf("<", at + 1)
        painter.to(next === -1 ? text.length : next)
        continue
      }
      painter.to(wordEnd(text, at + open[0].length - 1, language), "keyword")
      isInTag = true
    } else if (text.charAt(at) === ">") {
      isInTag = false
      painter.to(at + 1)
    } else if (!paintQuoted(painter, language)) {
      if (isWord(text, at, language)) painter.to(wordEnd(text, at, language), "name")
      else painter.to(at + 1)
    }
  }
}

function paintDiff(painter: Painter): void {
  while (painter.at < painter.text.length) {
    const sign = painter.text.charAt(painter.at)
    const tone = sign === "+" ? "added" : sign === "-" ? "removed" : sign === "@" ? "name" : undefined
    painter.to(painter.lineEnd(), tone)
    painter.to(painter.at + 1)
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** `0xFF`, `1_000`, `2.5e-3`, `10px`: digits and all that hangs on them. */
function numberEnd(text: string, from: number): number {
  let at = from + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isExponent =
      (code === 43 || code === 45) && "eE".includes(text.charAt(at - 1)) && isDigit(text.charCodeAt(at + 1))
    const isPoint = code === 46 && isDigit(text.charCodeAt(at + 1))
    if (!isExponent && !isPoint && !isLetter(code) && !isDigit(code)) break
  }
  return at
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 36 || code >= 128
}

/** A word begins here. */
function isWord(text: string, at: number, { wordCharacters = "" }: Language): boolean {
  if (at >= text.length) return false
  return isLetter(text.charCodeAt(at)) || wordCharacters.includes(text.charAt(at))
}

function wordEnd(text: string, from: number, language: Language): number {
  let at = from
  while (isWord(text, at, language) || isDigit(text.charCodeAt(at))) at++
  return at
}
