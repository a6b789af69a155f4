import type { FileHandle } from "node:fs/promises"
import { fieldOf, isObject, textOf } from "../base/wire.ts"
import type { SessionStoreEntry } from "../types/session-store.ts"

/** The lines of a session, wherever they are kept. */
export interface Transcript {
  lines(): AsyncIterable<TranscriptLine>
  /** One that was seen before, again. */
  lineAt(place: { readonly offset: number; readonly bytes: number }): Promise<string>
}

export function transcriptInFile(file: FileHandle): Transcript {
  return { lines: () => linesOf(file), lineAt: (place) => lineAt(file, place) }
}

/** A store's loaded lines. A line's offset is its number. */
export function transcriptOfEntries(entries: readonly SessionStoreEntry[]): Transcript {
  return {
    async *lines() {
      for (const [offset, entry] of entries.entries()) yield { text: JSON.stringify(entry), offset, bytes: 0 }
    },
    async lineAt({ offset }) {
      return JSON.stringify(entries[offset])
    },
  }
}

const CHUNK_BYTES = 256 * 1024
/** A longer line is no message of anybody's; it is passed over rather than held in memory. */
const MAX_LINE_BYTES = 128 * 1024 * 1024
const NEWLINE = 0x0a

export interface TranscriptLine {
  readonly text: string
  readonly offset: number
  readonly bytes: number
}

/** The lines of an open file one after the other; no more than one line and one chunk is in memory at a time. */
export async function* linesOf(file: FileHandle): AsyncGenerator<TranscriptLine> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let begun: Buffer[] = []
  let [begunBytes, lineOffset] = [0, 0]
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) break
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && end < bytesRead; end = chunk.indexOf(NEWLINE, start)) {
      const bytes = begunBytes + end - start
      const rest = chunk.subarray(start, end)
      if (bytes <= MAX_LINE_BYTES) yield { text: joined(begun, rest), offset: lineOffset, bytes }
      start = end + 1
      lineOffset += bytes + 1
      begun = []
      begunBytes = 0
    }
    begunBytes += bytesRead - start
    if (begunBytes <= MAX_LINE_BYTES) begun.push(Buffer.from(chunk.subarray(start, bytesRead)))
    else begun = []
    position += bytesRead
  }
  if (begunBytes > 0 && begunBytes <= MAX_LINE_BYTES)
    yield { text: joined(begun, Buffer.alloc(0)), offset: lineOffset, bytes: begunBytes }
}

/** A line that was seen before, read again. */
async function lineAt(file: FileHandle, { offset, bytes }: { offset: number; bytes: number }): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, offset)
  return buffer.toString("utf8", 0, bytesRead)
}

function joined(begun: readonly Buffer[], rest: Buffer): string {
  return begun.length === 0 ? rest.toString("utf8") : Buffer.concat([...begun, rest]).toString("utf8")
}

type Json = Readonly<Record<string, unknown>>

/** One line's part in the order of a conversation; the line itself stays on disk. */
export interface TranscriptEntry {
  readonly type: string
  readonly uuid: string
  readonly parentUuid: string | undefined
  readonly isSidechain: boolean
  readonly isMeta: boolean
  readonly isTeammate: boolean
  readonly timestamp: string
  /** Assistant messages only: the API message that this block belongs to. */
  readonly messageId: string | undefined
  readonly toolUses: readonly string[]
  readonly toolResults: readonly string[]
  readonly kept: KeptMessages | undefined
  /** User messages only: which of the CLI's own marks the text begins with. */
  readonly opening: "caveat" | "command" | "output" | undefined
  readonly offset: number
  readonly bytes: number
}

/** Messages from before a compaction that the conversation goes on with, behind the summary (`anchor`). */
export type KeptMessages =
  | { readonly kind: "segment"; readonly anchor: string; readonly head: string; readonly tail: string }
  | { readonly kind: "list"; readonly anchor: string; readonly uuids: readonly string[] }

/** Lines of these types are links of the conversation; every other one says something about the session as a whole. */
const LINKED_TYPES: ReadonlySet<string> = new Set(["user", "assistant", "attachment", "system", "progress"])

export function entryOf(line: Json, place: { offset: number; bytes: number }): TranscriptEntry | undefined {
  const [type, uuid] = [textOf(line, "type"), textOf(line, "uuid")]
  if (type === undefined || uuid === undefined || !LINKED_TYPES.has(type)) return undefined
  const message = fieldOf(line, "message")
  const content = message?.["content"]
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  return {
    type,
    uuid,
    parentUuid: textOf(line, "parentUuid"),
    isSidechain: line["isSidechain"] === true,
    isMeta: line["isMeta"] === true,
    isTeammate: Boolean(line["teamName"]),
    timestamp: textOf(line, "timestamp") ?? "",
    messageId: type === "assistant" ? textOf(message, "id") : undefined,
    toolUses: type === "assistant" ? idsOf(blocks, "tool_use", "id") : [],
    toolResults: type === "user" ? idsOf(blocks, "tool_result", "tool_use_id") : [],
    kept: type === "system" ? keptBy(fieldOf(line, "compactMetadata")) : undefined,
    opening: type === "user" ? openingOf(typeof content === "string" ? content : firstTextOf(blocks)) : undefined,
    offset: place.offset,
    bytes: place.bytes,
  }
}

function firstTextOf(blocks: readonly Json[]): string {
  return (
    textOf(
      blocks.find((block) => block["type"] === "text"),
      "text",
    ) ?? ""
  )
}

function openingOf(text: string): TranscriptEntry["opening"] {
  if (text.startsWith("<local-command-caveat>")) return "caveat"
  if (text.startsWith("<command-name>")) return "command"
  return /^<local-command-std(?:out|err)>/.test(text) ? "output" : undefined
}

function idsOf(blocks: readonly Json[], type: string, key: string): string[] {
  return blocks.flatMap((block) => (block["type"] === type ? (textOf(block, key) ?? []) : []))
}

function keptBy(metadata: Json | undefined): KeptMessages | undefined {
  const list = fieldOf(metadata, "preservedMessages")
  if (list !== undefined) {
    const [anchor, uuids] = [textOf(list, "anchorUuid"), list["uuids"]]
    if (anchor === undefined || !Array.isArray(uuids)) return undefined
    return { kind: "list", anchor, uuids: uuids.filter((uuid) => typeof uuid === "string") }
  }
  const segment = fieldOf(metadata, "preservedSegment")
  const anchor = textOf(segment, "anchorUuid")
  const [head, tail] = [textOf(segment, "headUuid"), textOf(segment, "tailUuid")]
  if (anchor === undefined || head === undefined || tail === undefined) return undefined
  return { kind: "segment", anchor, head, tail }
}
