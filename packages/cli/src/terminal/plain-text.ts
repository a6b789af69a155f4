import type { ReadFor } from "@signalbox/protocol"
import { visibleLine, visibleText } from "@signalbox/transcript"

export { cutCells as cut } from "./cells.ts"

/** On one line: an agent's words must not steer somebody's terminal, nor hide in it. */
export function onOneLine(text: string, readFor: ReadFor = "prose"): string {
  return visibleLine(text, readFor)
}

/** As it is, line by line, with nothing but text and line ends. */
export function inLines(text: string): string {
  return visibleText(text.replace(/\r\n?/g, "\n")).replaceAll("\t", "  ")
}
