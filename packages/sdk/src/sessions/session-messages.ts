import { open, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { isObject, parseObject, textOf } from "../base/wire.ts"
import { conversationOf, isMessage, localCommandsIn, subagentConversationOf } from "./conversation.ts"
import { findSession, isSessionId, type PageOptions, pageOf, type SessionOptions, sideFolder } from "./session-file.ts"
import { loadStored, missing, storedKey } from "./stored-session.ts"
import { entryOf, type Transcript, type TranscriptEntry, transcriptInFile, transcriptOfEntries } from "./transcript.ts"

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

async function readMessagesIn(path: string, plan: ReadPlan): Promise<SessionMessage[]> {
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
async function readMessages(transcript: Transcript, { select, page, origin }: ReadPlan): Promise<SessionMessage[]> {
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
    timestamp: textOf(line, "timestamp"),
    ...(isObject(line["origin"]) || typeof line["origin"] === "string" ? { origin: line["origin"] } : {}),
  }
}

export interface SubagentFile {
  readonly agentId: string
  readonly path: string
}

const FILE_NAME = /^agent-(.*)\.jsonl$/
/** Workflows have folders of their own in the folder; deeper than this nobody writes. */
const MAX_DEPTH = 16

/** The ids of the subagents that a session started. */
export async function listSubagents(sessionId: string, options?: SessionOptions): Promise<string[]> {
  const { sessionStore: store } = options ?? {}
  if (store === undefined) return (await subagentFiles(sessionId, options?.dir)).map(({ agentId }) => agentId)
  if (store.listSubkeys === undefined) throw missing("listSubkeys", "list subagents")
  if (!isSessionId(sessionId)) return []
  const subkeys = await store.listSubkeys(await storedKey(sessionId, options ?? {}))
  return subkeys.flatMap((subpath) => agentOf(subpath) ?? [])
}

/** A subagent's prompts and answers; none if the session has no such subagent. */
export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options?: PageOptions,
): Promise<SessionMessage[]> {
  if (!agentId) return []
  if (options?.sessionStore !== undefined) return storedMessages(sessionId, agentId, options)
  const file = (await subagentFiles(sessionId, options?.dir)).find((found) => found.agentId === agentId)
  if (file === undefined) return []
  const note = parseObject(await readFile(file.path.replace(/\.jsonl$/, ".meta.json"), "utf8").catch(() => ""))
  return readMessagesIn(file.path, planOf(note, options ?? {}))
}

async function storedMessages(sessionId: string, agentId: string, options: PageOptions): Promise<SessionMessage[]> {
  const { sessionStore: store } = options
  if (store === undefined || !isSessionId(sessionId)) return []
  const key = await storedKey(sessionId, options)
  // A store that cannot list them may have one in the usual place all the same.
  const subkeys = (await store.listSubkeys?.(key)) ?? [`subagents/agent-${agentId}`]
  const subpath = subkeys.find((each) => agentOf(each) === agentId)
  const entries = subpath === undefined ? null : await store.load({ ...key, subpath })
  if (entries === null) return []
  const note = entries.findLast(({ type }) => type === "agent_metadata")
  return readMessages(transcriptOfEntries(entries), planOf(note, options))
}

function agentOf(subpath: string): string | undefined {
  return /^subagents\/(?:.*\/)?agent-([^/]*)$/.exec(subpath)?.[1]
}

function planOf(note: Readonly<Record<string, unknown>> | undefined, page: PageOptions) {
  return {
    select: (entries: readonly TranscriptEntry[]) => ({
      messages: subagentConversationOf(entries).filter(({ type }) => isMessage(type)),
      localCommands: new Set<TranscriptEntry>(),
    }),
    page,
    origin: {
      parentToolUseId: textOf(note, "toolUseId") ?? null,
      parentAgentId: textOf(note, "parentAgentId") ?? null,
    },
  }
}

export async function subagentFiles(sessionId: string, dir: string | undefined): Promise<SubagentFile[]> {
  const session = await findSession(sessionId, dir)
  return session === undefined ? [] : filesUnder(join(sideFolder(session), "subagents"), MAX_DEPTH)
}

async function filesUnder(folder: string, depth: number): Promise<SubagentFile[]> {
  if (depth === 0) return []
  const found: SubagentFile[] = []
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    const agentId = FILE_NAME.exec(entry.name)?.[1]
    if (entry.isDirectory()) found.push(...(await filesUnder(path, depth - 1)))
    else if (entry.isFile() && agentId !== undefined) found.push({ agentId, path })
  }
  return found
}
