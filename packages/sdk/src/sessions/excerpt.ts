import { open } from "node:fs/promises"
import { parseObject, textOf } from "../base/wire.ts"

/** How much of each end is read. What lies between does not count for a session's description, as in the official SDK. */
const WINDOW_BYTES = 64 * 1024

/** Both ends of a transcript; the same text twice if the file is short. */
export interface Excerpt {
  readonly head: string
  readonly tail: string
}

export async function readExcerpt(path: string, size: number): Promise<Excerpt | undefined> {
  const file = await open(path, "r").catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const window = async (from: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(WINDOW_BYTES, size)), { position: from })
      return buffer.toString("utf8", 0, bytesRead)
    }
    const head = await window(0)
    return { head, tail: size <= WINDOW_BYTES ? head : await window(size - WINDOW_BYTES) }
  } catch {
    return undefined // gone or unreadable: there is nothing to describe
  } finally {
    await file.close().catch(() => undefined)
  }
}

/** As `readExcerpt`, for a transcript that is in memory, with the size that it would have as a file. */
export function excerptOfEntries(entries: readonly object[]): { readonly excerpt: Excerpt; readonly size: number } {
  const text = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""))
  const tail = text.subarray(Math.max(0, text.length - WINDOW_BYTES)).toString("utf8")
  return { excerpt: { head: text.subarray(0, WINDOW_BYTES).toString("utf8"), tail }, size: text.length }
}

/** The first text under this key, at whatever depth: the excerpt may begin or end within a line, so it is not parsed. */
export function firstText(excerpt: string, key: string): string | undefined {
  const [match] = textsUnder(excerpt, key)
  return match
}

/** The last text under this key, at whatever depth. */
export function lastText(excerpt: string, key: string): string | undefined {
  let last: string | undefined
  for (const text of textsUnder(excerpt, key)) last = text
  return last
}

function* textsUnder(excerpt: string, key: string): Generator<string> {
  for (const match of excerpt.matchAll(new RegExp(`"${key}":\\s?"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"`, "g")))
    yield unescaped(match[1] ?? "")
}

/** The last text under this key in a whole line, on its top level; `type` restricts which lines count. */
export function lastEntryText(excerpt: string, key: string, type?: string): string | undefined {
  for (let end = excerpt.length; end > 0; ) {
    const at = excerpt.lastIndexOf(`"${key}"`, end - 1)
    if (at < 0) return undefined
    const start = excerpt.lastIndexOf("\n", at) + 1
    const stop = excerpt.indexOf("\n", at)
    const entry = parseObject(excerpt.slice(start, stop < 0 ? excerpt.length : stop))
    const text = textOf(entry, key)
    if (text !== undefined && (type === undefined || entry?.["type"] === type)) return text
    end = start
  }
  return undefined
}

function unescaped(raw: string): string {
  if (!raw.includes("\\")) return raw
  return textOf(parseObject(`{"text":"${raw}"}`), "text") ?? raw
}
