/**
 * Text of agents, tools and strangers, made safe to look at: colours are taken off, and whatever could move a cursor, hide
 * or reorder what is read is shown by its number.
 */
export function visibleText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text
  return text
    .replaceAll(COLOURS, "")
    .replaceAll("\r\n", "\n")
    .replaceAll(
      HIDDEN,
      (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
    )
}

/** On one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, " ").trim()
}

/** Built from numbers, so that no such character stands in a source file. */
function characters(...ranges: readonly (readonly [number, number])[]): string {
  return ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("")
}

/** Controls but tab and newline; marks of direction; what has no width; tags; what stands for nothing. */
const HIDDEN_CHARACTERS = characters(
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x180e, 0x180e],
  [0x200b, 0x200c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe007f],
)

/** A joiner has its place between the parts of an emoji, and nowhere else. */
const STRAY_JOINER = "(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u{fe0f}])\\u{200d}"

const SUSPICIOUS = new RegExp(`[${HIDDEN_CHARACTERS}]|${STRAY_JOINER}`, "u")
const HIDDEN = new RegExp(SUSPICIOUS.source, "gu")
/** ESC [ … m, in both ways to write it. */
const COLOURS = new RegExp(`(?:[${characters([0x1b, 0x1b])}]\\[|[${characters([0x9b, 0x9b])}])[0-9;:]*m`, "gu")
