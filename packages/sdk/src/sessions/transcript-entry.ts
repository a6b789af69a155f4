import { isObject, objectIn, stringIn } from "./json-text.ts"

type Json = Readonly<Record<string, unknown>>

/** What the order of a conversation depends on, of one line; the line itself stays on disk. */
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
  const [type, uuid] = [stringIn(line, "type"), stringIn(line, "uuid")]
  if (type === undefined || uuid === undefined || !LINKED_TYPES.has(type)) return undefined
  const message = objectIn(line, "message")
  const content = message?.["content"]
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  return {
    type,
    uuid,
    parentUuid: stringIn(line, "parentUuid"),
    isSidechain: line["isSidechain"] === true,
    isMeta: line["isMeta"] === true,
    isTeammate: Boolean(line["teamName"]),
    timestamp: stringIn(line, "timestamp") ?? "",
    messageId: type === "assistant" ? stringIn(message, "id") : undefined,
    toolUses: type === "assistant" ? idsOf(blocks, "tool_use", "id") : [],
    toolResults: type === "user" ? idsOf(blocks, "tool_result", "tool_use_id") : [],
    kept: type === "system" ? keptBy(objectIn(line, "compactMetadata")) : undefined,
    opening: type === "user" ? openingOf(typeof content === "string" ? content : firstTextOf(blocks)) : undefined,
    offset: place.offset,
    bytes: place.bytes,
  }
}

function firstTextOf(blocks: readonly Json[]): string {
  return (
    stringIn(
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
  return blocks.flatMap((block) => (block["type"] === type ? (stringIn(block, key) ?? []) : []))
}

function keptBy(metadata: Json | undefined): KeptMessages | undefined {
  const list = objectIn(metadata, "preservedMessages")
  if (list !== undefined) {
    const [anchor, uuids] = [stringIn(list, "anchorUuid"), list["uuids"]]
    if (anchor === undefined || !Array.isArray(uuids)) return undefined
    return { kind: "list", anchor, uuids: uuids.filter((uuid) => typeof uuid === "string") }
  }
  const segment = objectIn(metadata, "preservedSegment")
  const anchor = stringIn(segment, "anchorUuid")
  const [head, tail] = [stringIn(segment, "headUuid"), stringIn(segment, "tailUuid")]
  if (anchor === undefined || head === undefined || tail === undefined) return undefined
  return { kind: "segment", anchor, head, tail }
}
