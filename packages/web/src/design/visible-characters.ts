/** A piece of somebody else's text: as it is, or a character that would not be seen, by its name. */
export type TextPiece =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "hidden"; readonly name: string }
  | { readonly kind: "blank-lines"; readonly count: number }

/**
 * Control characters (but for tab and newline), the ones that turn the direction of text, those without a width, odd
 * spaces, and the tags that can carry a whole message unseen.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|[\u{1d173}-\u{1d17a}]/u
const BLANK_RUN = /\n(?:[ \t]*\n){3,}/

/** Those that deceive also where people write as they like: joiners and signs of emoji, and odd spaces, are left to it. */
const DECEIVING =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff0-\ufffb]|[\u{e0000}-\u{e007f}]/u

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

const HIDDEN_OR_BLANK = new RegExp(`(?<hidden>${HIDDEN.source})|${BLANK_RUN.source}`, "gu")

const ALL_HIDDEN = new RegExp(HIDDEN.source, "gu")
const ALL_DECEIVING = new RegExp(DECEIVING.source, "gu")

/** Text that somebody reads: nothing in it may turn it around or hide in it. */
export function prosePieces(text: string): readonly TextPiece[] {
  if (!DECEIVING.test(text)) return [{ kind: "plain", text }]
  return piecesOf(text, ALL_DECEIVING, ([hidden]) => ({ kind: "hidden", name: nameOf(hidden) }))
}

/** Text that somebody decides on: nothing in it may hide, and nothing may be pushed out of sight. */
export function visiblePieces(text: string): readonly TextPiece[] {
  return piecesOf(text, HIDDEN_OR_BLANK, (match) => {
    const hidden = match.groups?.["hidden"]
    return hidden === undefined ? blankLines(match[0]) : { kind: "hidden", name: nameOf(hidden) }
  })
}

function piecesOf(text: string, what: RegExp, shown: (match: RegExpExecArray) => TextPiece): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const match of text.matchAll(what)) {
    if (match.index > end) pieces.push({ kind: "plain", text: text.slice(end, match.index) })
    pieces.push(shown(match))
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ kind: "plain", text: text.slice(end) })
  return pieces
}

function blankLines(run: string): TextPiece {
  return { kind: "blank-lines", count: run.split("\n").length - 2 }
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`
  const name = NAMES[code]
  return name === undefined ? number : `${number} ${name}`
}

/** Whether anything in it would not be seen as what it is. */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text)
}

/** One line for a list: what deceives stands in it by its name, odd spaces as ordinary ones, and no letter order is turned around. */
export function oneLine(text: string, maxLength = 300): string {
  const line = text
    .slice(0, maxLength * 4)
    .replaceAll(ALL_DECEIVING, (hidden) => `⟨${nameOf(hidden)}⟩`)
    .replaceAll(ALL_HIDDEN, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line
}
