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

/** What a key does to a text; undefined: nothing, it is for somebody else. */
export function edited(buffer: TextBuffer, press: Press): TextBuffer | undefined {
  switch (press.key) {
    case "text":
      return insert(buffer, press.text)
    case "newline":
      return insert(buffer, "\n")
    case "backspace":
      return erase(buffer)
    case "left":
      return moveBy(buffer, -1)
    case "right":
      return moveBy(buffer, 1)
    case "up":
      return moveLine(buffer, -1)
    case "down":
      return moveLine(buffer, 1)
    case "ctrl":
      return controlled(buffer, press.letter)
    case "enter":
    case "escape":
    case "tab":
    case "back-tab":
    case "page-up":
    case "page-down":
    case "home":
    case "end":
      return undefined
  }
}

function controlled(buffer: TextBuffer, letter: string): TextBuffer | undefined {
  switch (letter) {
    case "a":
      return toLineStart(buffer)
    case "e":
      return toLineEnd(buffer)
    case "w":
      return eraseWord(buffer)
    case "u":
      return EMPTY
    default:
      return undefined
  }
}
