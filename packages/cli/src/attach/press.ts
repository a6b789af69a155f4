import type { Key } from "ink"
import {
  EMPTY,
  erase,
  eraseWord,
  insert,
  moveBy,
  moveLine,
  type TextBuffer,
  toLineEnd,
  toLineStart,
} from "./text-buffer.ts"

/** A key, as the view knows it. `text`: what was typed or pasted. */
export type Press =
  | { readonly key: "text"; readonly text: string }
  | { readonly key: "enter" | "newline" | "escape" | "tab" | "back-tab" | "backspace" }
  | { readonly key: "up" | "down" | "left" | "right" | "page-up" | "page-down" | "home" | "end" }
  | { readonly key: "ctrl"; readonly letter: string }

type Edit = (buffer: TextBuffer) => TextBuffer

const EDITS: Partial<Record<Press["key"], Edit>> = {
  newline: (buffer) => insert(buffer, "\n"),
  backspace: erase,
  left: (buffer) => moveBy(buffer, -1),
  right: (buffer) => moveBy(buffer, 1),
  up: (buffer) => moveLine(buffer, -1),
  down: (buffer) => moveLine(buffer, 1),
}
/** Edits by the letter that is pressed with Ctrl. */
const CONTROL_EDITS = new Map<string, Edit>([
  ["a", toLineStart],
  ["e", toLineEnd],
  ["w", eraseWord],
  ["u", () => EMPTY],
])

/** A text after a key; undefined: the key is for somebody else. */
export function edited(buffer: TextBuffer, press: Press): TextBuffer | undefined {
  if (press.key === "text") return insert(buffer, press.text)
  const edit = press.key === "ctrl" ? CONTROL_EDITS.get(press.letter) : EDITS[press.key]
  return edit?.(buffer)
}

/**
 * From what ink reads to keys. What is typed fast, or over a slow line, comes in one piece: each character of it is a key. What is
 * pasted is text, line ends and all: the terminal puts brackets around it.
 */
export class PressReader {
  #isPasting = false

  read(input: string, key: Key): readonly Press[] {
    if (!this.#isPasting) {
      const named = namedPress(input, key)
      if (named !== undefined) return [named]
    }
    if (this.#isPasting && key.return) return [{ key: "text", text: "\n" }]
    return input.split(BRACKET).flatMap((piece) => this.#piece(piece))
  }

  #piece(piece: string): readonly Press[] {
    if (piece === BEGIN || piece === END) {
      this.#isPasting = piece === BEGIN
      return []
    }
    if (!this.#isPasting) return typed(piece)
    const text = piece.replaceAll(/\r\n?/g, "\n").replaceAll(CONTROLS, "")
    return text === "" ? [] : [{ key: "text", text }]
  }
}

/** The part that ink leaves of the escapes that a terminal puts around pasted text. */
const BRACKET = /(\[20[01]~)/
const BEGIN = "[200~"
const END = "[201~"
// oxlint-disable-next-line no-control-regex -- they are what is taken out
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g

function namedPress(input: string, key: Key): Press | undefined {
  if (key.return) return { key: key.meta || key.shift ? "newline" : "enter" }
  if (key.tab) return { key: key.shift ? "back-tab" : "tab" }
  if (key.escape && input === "") return { key: "escape" }
  if (key.backspace || key.delete) return { key: "backspace" }
  if (key.ctrl) return input.length === 1 ? controlPress(input.toLowerCase()) : undefined
  const arrows = { up: key.upArrow, down: key.downArrow, left: key.leftArrow, right: key.rightArrow } as const
  const pages = { "page-up": key.pageUp, "page-down": key.pageDown, home: key.home, end: key.end } as const
  for (const [name, isPressed] of Object.entries({ ...arrows, ...pages })) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names are those of the two tables above
    if (isPressed) return { key: name as keyof typeof arrows | keyof typeof pages }
  }
  return undefined
}

function controlPress(letter: string): Press {
  return letter === "j" ? { key: "newline" } : { key: "ctrl", letter }
}

/** Each character that is a key by itself, and what lies between as text. */
function typed(piece: string): readonly Press[] {
  return piece
    .split(KEYS)
    .filter((part) => part !== "")
    .map((part) => keyOf(part) ?? { key: "text", text: part })
}

// oxlint-disable-next-line no-control-regex -- these are the keys
const KEYS = /([\u0000-\u001f\u007f])/

const NAMED = new Map<string, Press>([
  ["\r", { key: "enter" }],
  ["\t", { key: "tab" }],
  ["\u001b", { key: "escape" }],
  ["\b", { key: "backspace" }],
  ["\u007f", { key: "backspace" }],
])

function keyOf(part: string): Press | undefined {
  const code = part.length === 1 ? (part.codePointAt(0) ?? 0) : 0
  return NAMED.get(part) ?? (code > 0 && code < 27 ? controlPress(String.fromCodePoint(code + 96)) : undefined)
}
