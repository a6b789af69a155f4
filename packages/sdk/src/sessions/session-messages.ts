import { open } from "node:fs/promises"
import { conversationOf, isMessage } from "./conversation.ts"
import { isObject, parseObject, stringIn } from "./json-text.ts"
import { localCommandsIn } from "./local-commands.ts"
import { findSession } from "./session-file.ts"
import type { SessionOptions } from "./session-options.ts"
import { loadStored } from "./stored-session.ts"
import { type Transcript, transcriptInFile, transcriptOfEntries } from "./transcript.ts"
import { entryOf, type TranscriptEntry } from "./transcript-entry.ts"

/** One message of a stored conversation. */
export interface SessionMessage {
  type: "user" | "assistant" | "system"
  uuid: string
  session_id: string
  /** As the API has it; a system message has none. */
  message: unknown
  /** Sub-agents' messages only: the call that started the sub-agent. */
  parent_tool_use_id: string | null
  /** Sub-agents' messages only: the sub-agent that started this one, if it was not the session itself. */
  parent_agent_id: string | null
  isCompactSummary?: boolean
  /** Not for people to read. */
  is_meta?: boolean
  /** Tells of a command that the CLI carried out itself. */
  isCompletedLocalCommand?: boolean
  timestamp?: string | undefined
  origin?: unknown
}

export interface PageOptions extends SessionOptions {
  /** 0 and less: no limit. */
  limit?: number
  offset?: number
}

export interface GetSessionMessagesOptions extends PageOptions {
  /** Also the CLI's own notes in the conversation, such as the boundary of a compaction. Default: false. */
  includeSystemMessages?: boolean
}

/** Who a subagent's messages belong to. */
interface Origin {
  readonly parentToolUseId: string | null
  readonly parentAgentId: string | null
}

const MAIN: Origin = { parentToolUseId: null, parentAgentId: null }

/** The messages of a stored session in the order of the conversation; none if there is no such session. */
export async function getSessionMessages(
  sessionId: string,
  options?: GetSessionMessagesOptions,
): Promise<SessionMessage[]> {
  const withSystem = options?.includeSystemMessages === true
  const isShown = ({ type, isMeta, isSidechain, isTeammate }: TranscriptEntry) =>
    (isMessage(type) || (withSystem && type === "system")) && !isMeta && !isSidechain && !isTeammate
  const select = (entries: readonly TranscriptEntry[]) => {
    const conversation = conversationOf(entries)
    return { messages: conversation.filter(isShown), localCommands: localCommandsIn(conversation) }
  }
  const plan = { select, page: options ?? {}, origin: MAIN }
  if (options?.sessionStore !== undefined) {
    return readMessages(transcriptOfEntries(await loadStored(options.sessionStore, sessionId, options)), plan)
  }
  const file = await findSession(sessionId, options?.dir, { withLinks: true })
  return file === undefined ? [] : readMessagesIn(file.path, plan)
}

interface Selection {
  readonly messages: readonly TranscriptEntry[]
  readonly localCommands: ReadonlySet<TranscriptEntry>
}

interface ReadPlan {
  readonly select: (entries: readonly TranscriptEntry[]) => Selection
  readonly page: PageOptions
  readonly origin: Origin
}

export async function readMessagesIn(path: string, plan: ReadPlan): Promise<SessionMessage[]> {
  const file = await open(path, "r").catch(() => undefined)
  if (file === undefined) return []
  try {
    return await readMessages(transcriptInFile(file), plan)
  } finally {
    await file.close().catch(() => undefined)
  }
}

/**
 * Two passes over the lines: the first keeps of each only what the order depends on, the second reads the lines that are
 * asked for. So a page of a huge transcript on disk costs the memory of the page.
 */
export async function readMessages(
  transcript: Transcript,
  { select, page, origin }: ReadPlan,
): Promise<SessionMessage[]> {
  const { messages: all, localCommands } = select(await entriesIn(transcript))
  const messages: SessionMessage[] = []
  for (const entry of pageOf(all, page)) {
    const line = parseObject(await transcript.lineAt(entry))
    if (line !== undefined) messages.push(messageOf(line, entry, { origin, isLocal: localCommands.has(entry) }))
  }
  return messages
}

async function entriesIn(transcript: Transcript): Promise<TranscriptEntry[]> {
  const entries: TranscriptEntry[] = []
  for await (const { text, offset, bytes } of transcript.lines()) {
    const line = parseObject(text)
    const entry = line === undefined ? undefined : entryOf(line, { offset, bytes })
    if (entry !== undefined) entries.push(entry)
  }
  return entries
}

function pageOf<T>(all: readonly T[], { limit, offset }: PageOptions): T[] {
  const start = offset !== undefined && offset > 0 ? offset : 0
  return all.slice(start, limit !== undefined && limit > 0 ? start + limit : undefined)
}

function messageOf(
  line: Readonly<Record<string, unknown>>,
  entry: TranscriptEntry,
  { origin, isLocal }: { origin: Origin; isLocal: boolean },
): SessionMessage {
  const isSummary = Boolean(line["isCompactSummary"])
  return {
    // Only these three types are ever selected.
    type: entry.type === "assistant" || entry.type === "system" ? entry.type : "user",
    uuid: entry.uuid,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a line without its session's id is handed over as it is
    session_id: line["sessionId"] as string,
    message: line["message"],
    parent_tool_use_id: origin.parentToolUseId,
    parent_agent_id: origin.parentAgentId,
    ...(isSummary ? { isCompactSummary: true } : {}),
    ...(isSummary || entry.isMeta || Boolean(line["isVisibleInTranscriptOnly"]) ? { is_meta: true } : {}),
    ...(isLocal ? { isCompletedLocalCommand: true } : {}),
    timestamp: stringIn(line, "timestamp"),
    ...(isObject(line["origin"]) || typeof line["origin"] === "string" ? { origin: line["origin"] } : {}),
  }
}
