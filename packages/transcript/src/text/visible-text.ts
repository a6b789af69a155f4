import { hasUnseen, type ReadFor, replaceUnseen, unseenNumber } from "@signalbox/protocol/unseen"

/**
 * Text of agents, tools and strangers, made safe to look at: colours are taken off, and whatever could move a cursor, hide
 * or reorder what is read is shown by its number.
 */
export function visibleText(text: string, readFor: ReadFor = "prose"): string {
  if (!hasUnseen(text, readFor) && !text.includes("\r")) return text
  const plain = text.replaceAll(COLOURS, "").replaceAll("\r\n", "\n")
  return replaceUnseen(plain, readFor, (character) => `<${unseenNumber(character)}>`)
}

/** On one line. */
export function visibleLine(text: string, readFor: ReadFor = "prose"): string {
  return visibleText(text, readFor).replaceAll(/\s+/g, " ").trim()
}

/** ESC [ … m, in both ways to write it. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const COLOURS = /(?:\u001b\[|\u009b)[0-9;:]*m/g
