import type { ReadFor } from "@signalbox/protocol"
import { visibleLine, visibleText } from "@signalbox/transcript"
import stringWidth from "string-width"
import wrapAnsi from "wrap-ansi"

/** On one line, with nothing hidden: an agent's words must not steer somebody's terminal. */
export function onOneLine(text: string, readFor: ReadFor = "prose"): string {
  return visibleLine(text, readFor)
}

/** Line by line, with nothing but text and line ends. */
export function inLines(text: string): string {
  return visibleText(text.replace(/\r\n?/g, "\n")).replaceAll("\t", "  ")
}

/** How many cells of a terminal visible text takes. */
export function cellWidth(text: string): number {
  return stringWidth(text)
}

/** No wider than `width`; an ellipsis stands for what was cut. */
export function cutCells(text: string, width: number): string {
  if (cellWidth(text) <= width) return text
  const [head = ""] = wrapAnsi(text, Math.max(1, width - 1), { hard: true, wordWrap: false, trim: false }).split(
    "\n",
    1,
  )
  // Beside a wide character there may be no room for the ellipsis.
  return cellWidth(head) < width ? `${head}…` : "…"
}

/** Lines no wider than `width`, broken at spaces where possible. An indent stays. */
export function wrapCells(text: string, width: number): readonly string[] {
  const room = Math.max(1, width)
  return text
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((line) => {
      if (cellWidth(line) <= room) return [line]
      const rows = wrapAnsi(line, room, { hard: true, trim: false }).split("\n")
      return rows.flatMap((row, index) => fitting((index === 0 ? row : row.replace(/^ /, "")).trimEnd(), room))
    })
}

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The wrapping counts some characters of many parts as narrower than they are: what it leaves too wide is broken between characters. */
function fitting(row: string, room: number): readonly string[] {
  if (cellWidth(row) <= room) return [row]
  const rows: string[] = []
  let last = ""
  for (const { segment } of CHARACTERS.segment(row)) {
    if (last !== "" && cellWidth(last + segment) > room) {
      rows.push(last.trimEnd())
      last = ""
    }
    last += segment
  }
  return [...rows, last]
}

const STEPS: readonly (readonly [number, string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
]

/** How long ago, in the largest unit that fits: `3m`. */
export function ago(moment: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(moment)) / 1000))
  for (const [size, unit] of STEPS) if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`
  return "now"
}

/** The reader's time of day. */
export function timeOfDay(moment: string): string {
  const date = new Date(moment)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":")
}
