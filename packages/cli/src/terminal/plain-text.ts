export { cutCells as cut } from "../attach/cells.ts"

/** Controls, and what turns the direction of text around: an agent's words must not steer somebody's terminal. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** On one line, without anything that a terminal would act on. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(UNSAFE, "").trim()
}

/** As it is, line by line, without anything but text and line ends. */
export function inLines(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(UNSAFE, (char) => (char === "\n" ? "\n" : char === "\t" ? "  " : ""))
}
