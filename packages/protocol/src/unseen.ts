/**
 * Characters that cannot be seen: they look like nothing or like a blank, turn text around, move a cursor, or have no
 * shape that anybody knows. The only table of them; cockpit, terminal, exported page and policy all read it. Tab, newline
 * and the ordinary blank are not in it.
 */
const UNSEEN = "(?![\\t\\n ])[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Cn}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u{2800}]"

/** Prose may hold blanks of French and Japanese, blank Braille, and characters that only some fonts or newer systems show. */
const PROSE_MAY = "[\\u{a0}\\u{202f}\\u{3000}\\u{2800}\\p{Co}\\p{Cn}]"
const PICTURE = "[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]"
/** A letter of a script that is written with joiners. */
const JOINED = "(?![\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}])[\\p{L}\\p{M}]"
/** Joiners and signs of style have their place behind pictures and such letters, a carriage return before a newline. */
const IN_PLACE = [
  `(?<=${PICTURE}|\\u{fe0f}|${JOINED})\\u{200d}`,
  `(?<=${JOINED})\\u{200c}`,
  `(?<=${PICTURE})[\\u{fe0e}\\u{fe0f}]`,
  "\\r(?=\\n)",
  "(?<=[0-9#*])\\u{fe0f}(?=\\u{20e3})",
  "(?<=\\p{Script=Han})[\\u{e0100}-\\u{e01ef}]",
]
const IN_PROSE = `(?!${[PROSE_MAY, ...IN_PLACE].join("|")})${UNSEEN}`

/** The purpose of a text: a decision hangs on every character, prose follows the habits of its language. */
export type ReadFor = "decision" | "prose"

const ONE: Readonly<Record<ReadFor, RegExp>> = {
  decision: new RegExp(UNSEEN, "u"),
  prose: new RegExp(IN_PROSE, "u"),
}
const EACH: Readonly<Record<ReadFor, RegExp>> = {
  decision: new RegExp(UNSEEN, "gu"),
  prose: new RegExp(IN_PROSE, "gu"),
}

const NAMES: Readonly<Record<number, string>> = {
  0x1b: "ESC",
  0x0d: "CR",
  0x00: "NUL",
  0x08: "BS",
  0xa0: "NBSP",
  0xad: "SHY",
  0x200b: "ZWSP",
  0x200d: "ZWJ",
  0x202a: "LRE",
  0x202b: "RLE",
  0x202c: "PDF",
  0x202d: "LRO",
  0x202e: "RLO",
  0x2066: "LRI",
  0x2067: "RLI",
  0x2068: "FSI",
  0x2069: "PDI",
  0xfeff: "BOM",
}

export function hasUnseen(text: string, readFor: ReadFor = "decision"): boolean {
  return ONE[readFor].test(text)
}

export function replaceUnseen(text: string, readFor: ReadFor, shown: (character: string) => string): string {
  return text.replace(EACH[readFor], shown)
}

/** Finds each of them, in order. */
export function unseenIn(
  text: string,
  readFor: ReadFor,
): IterableIterator<{ readonly 0: string; readonly index: number }> {
  return text.matchAll(EACH[readFor])
}

/** `U+202E` */
export function unseenNumber(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
}

/** `U+202E RLO` */
export function unseenName(character: string): string {
  const name = NAMES[character.codePointAt(0) ?? 0]
  return name === undefined ? unseenNumber(character) : `${unseenNumber(character)} ${name}`
}

/** Letters of other alphabets that look like one of a to z. */
const ALIKE =
  "аеорсухіјѕԁԛԝһӏүкѵАВЕКМНОРСТУХІЈЅԚԜαικνορυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳօոսհցⅰⅴⅹⅼⅽⅾⅿ\\u{ff21}-\\u{ff3a}\\u{ff41}-\\u{ff5a}"
const EACH_ALIKE = new RegExp(`[${ALIKE}]`, "gu")
const HAS_ALIKE = new RegExp(`[${ALIKE}]`, "u")
const WORD = /[\p{L}\p{M}\p{N}_]+/gu
const SCRIPTS: readonly (readonly [name: string, is: RegExp])[] = [
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
]
/** The first so many of a text are found. Whoever marks them says when there may be more. */
export const MAX_LOOK_ALIKES = 500

/** Finds each letter that looks like one of a to z in a word that has such letters too: "p\u{430}ypal". In order, and bounded. */
export function lookAlikesIn(text: string): readonly { readonly 0: string; readonly index: number }[] {
  if (!HAS_ALIKE.test(text)) return []
  const found: { 0: string; index: number }[] = []
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!/[A-Za-z]/.test(word) || !HAS_ALIKE.test(word)) continue
    for (const letter of word.matchAll(EACH_ALIKE)) {
      if (found.length === MAX_LOOK_ALIKES) return found
      found.push({ 0: letter[0], index: index + letter.index })
    }
  }
  return found
}

/** `U+0430 Cyrillic` */
export function lookAlikeName(letter: string): string {
  const script = SCRIPTS.find(([, is]) => is.test(letter))?.[0] ?? "look-alike"
  return `${unseenNumber(letter)} ${script}`
}
