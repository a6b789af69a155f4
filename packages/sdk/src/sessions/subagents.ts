import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { isMessage, subagentConversationOf } from "./conversation.ts"
import { parseObject, stringIn } from "./json-text.ts"
import { findSession, isSessionId, sideFolder } from "./session-file.ts"
import { type PageOptions, readMessages, readMessagesIn, type SessionMessage } from "./session-messages.ts"
import type { SessionOptions } from "./session-options.ts"
import { missing, storedKey } from "./stored-session.ts"
import { transcriptOfEntries } from "./transcript.ts"
import type { TranscriptEntry } from "./transcript-entry.ts"

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

/** What a subagent was told and answered; none if the session has no such subagent. */
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
      parentToolUseId: stringIn(note, "toolUseId") ?? null,
      parentAgentId: stringIn(note, "parentAgentId") ?? null,
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
