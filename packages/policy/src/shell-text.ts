import { hasUnseen as hasUnseenCharacter } from "@signalbox/protocol"
import { type ParsedScript, parse } from "unbash"
import { UNKNOWN, type Work } from "./matching.ts"

/** A blank that is part of a word, which a blank between words in a pattern does not match. */
export const GAP = "\uE001"
/** A line end that is part of a word. */
const LINE = "\uE003"
const IN_WORD = new RegExp(`[${GAP}${LINE}]`, "g")
const UNKNOWNS = new RegExp(`${UNKNOWN}+`, "g")

export const MAX_COMMAND_CHARS = 8192
/** Units of work to read one character. */
export const READING = 64

/** Units of work for each command and each redirection in a text, however short it is. */
export const PART = 2048

/** A word as it is compared where borders between words do not matter. */
export function plainText(word: string): string {
  return word.replaceAll(IN_WORD, " ").replaceAll(UNKNOWNS, UNKNOWN)
}

/** A word as a program is given it. */
export function writtenText(word: string): string {
  return word.replaceAll(GAP, " ").replaceAll(LINE, "\n")
}

/** A text that the shell has taken out of its quotes: blanks and line ends in it are its own, unseen characters unknown. */
export function wordText(value: string): string {
  let text = value
  if (/[ \t]/.test(text)) text = text.replace(/[ \t]/g, GAP)
  if (/[\n\r]/.test(text)) text = text.replace(/[\n\r]/g, LINE)
  if (!hasUnseenCharacter(text.replaceAll(IN_WORD, ""))) return text
  return Array.from(text, (char) => (char !== GAP && char !== LINE && hasUnseenCharacter(char) ? UNKNOWN : char)).join(
    "",
  )
}

/** A text that the parser has read, or why it was not given it: to be read after "because". */
type Parsed = { readonly script: ParsedScript } | { readonly problem: string }

/** Everything in which the parser looks again at what it has looked at. A single `(` is not among them. */
const OPENERS = /[$<>@?*+!=][({[]|`|\(\(|\(\)|\{(?=\S)|\[|<</g
/**
 * The parser looks at a character once for each thing that is open around it: with this many openers times characters it
 * takes some five milliseconds. More is not given to it.
 */
const MAX_NESTING = 32_768
/** Units of work for a character in something that is open. */
const NESTED = 32

/** Never throws for what stands in the text. */
export function parseText(text: string, work: Work): Parsed {
  if (text.length > MAX_COMMAND_CHARS) {
    return { problem: `it is longer than ${MAX_COMMAND_CHARS} characters` }
  }
  work.spend(READING * text.length)
  const openers = (text.match(OPENERS)?.length ?? 0) + (text.match(/\bcoproc\b/g)?.length ?? 0)
  const nesting = openers * text.length
  if (nesting > MAX_NESTING) return { problem: "it is nested too deep for its length" }
  work.spend(NESTED * nesting)
  try {
    return { script: parse(text) }
  } catch (error) {
    // Only a stack that is too small for what is nested. Any other error is a mistake of the parser's.
    return { problem: error instanceof RangeError ? "it is nested too deep" : "it could not be read" }
  }
}
