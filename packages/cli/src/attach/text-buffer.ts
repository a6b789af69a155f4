/** A text being written, and where. Pure: each change gives another buffer. */
export interface TextBuffer {
  readonly text: string
  /** Before which character of `text` the next one goes. */
  readonly at: number
}

export const EMPTY: TextBuffer = { text: "", at: 0 }
const MAX_CHARS = 100_000

export function bufferOf(text: string): TextBuffer {
  return { text, at: text.length }
}

export function insert({ text, at }: TextBuffer, more: string): TextBuffer {
  const room = Math.max(0, MAX_CHARS - text.length)
  const added = more.slice(0, room)
  return { text: text.slice(0, at) + added + text.slice(at), at: at + added.length }
}

export function erase({ text, at }: TextBuffer): TextBuffer {
  const from = before(text, at)
  return { text: text.slice(0, from) + text.slice(at), at: from }
}

export function eraseWord({ text, at }: TextBuffer): TextBuffer {
  const kept = text.slice(0, at).replace(/\S*\s*$/, "")
  return { text: kept + text.slice(at), at: kept.length }
}

export function moveBy(buffer: TextBuffer, step: -1 | 1): TextBuffer {
  const { text, at } = buffer
  return { text, at: step < 0 ? before(text, at) : after(text, at) }
}

/** To the line above or below; at the first and the last line to their ends. */
export function moveLine({ text, at }: TextBuffer, step: -1 | 1): TextBuffer {
  const start = text.lastIndexOf("\n", at - 1) + 1
  const column = at - start
  const target = step < 0 ? text.lastIndexOf("\n", start - 2) + 1 : nextLine(text, at)
  if (step < 0 && start === 0) return { text, at: 0 }
  if (target < 0) return { text, at: text.length }
  const end = text.indexOf("\n", target)
  return { text, at: Math.min(target + column, end < 0 ? text.length : end) }
}

export function toLineStart({ text, at }: TextBuffer): TextBuffer {
  return { text, at: text.lastIndexOf("\n", at - 1) + 1 }
}

export function toLineEnd({ text, at }: TextBuffer): TextBuffer {
  const end = text.indexOf("\n", at)
  return { text, at: end < 0 ? text.length : end }
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at)
  return end < 0 ? -1 : end + 1
}

function before(text: string, at: number): number {
  if (at === 0) return 0
  const code = text.charCodeAt(at - 1)
  return at - (code >= 0xdc00 && code <= 0xdfff ? 2 : 1)
}

function after(text: string, at: number): number {
  if (at >= text.length) return text.length
  const code = text.charCodeAt(at)
  return at + (code >= 0xd800 && code <= 0xdbff ? 2 : 1)
}
