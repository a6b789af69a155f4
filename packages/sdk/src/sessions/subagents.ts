import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { isMessage, subagentConversationOf } from "./conversation.ts"
import { parseObject, stringIn } from "./json-text.ts"
import { findSession, sideFolder } from "./session-file.ts"
import { type PageOptions, readMessages, type SessionMessage } from "./session-messages.ts"
import { refuseStore, type SessionOptions } from "./session-options.ts"

interface SubagentFile {
  readonly agentId: string
  readonly path: string
}

const FILE_NAME = /^agent-(.*)\.jsonl$/
/** Workflows have folders of their own in the folder; deeper than this nobody writes. */
const MAX_DEPTH = 16

/** The ids of the subagents that a session started. */
export async function listSubagents(sessionId: string, options?: SessionOptions): Promise<string[]> {
  refuseStore(options)
  return (await subagentFiles(sessionId, options?.dir)).map(({ agentId }) => agentId)
}

/** What a subagent was told and answered; none if the session has no such subagent. */
export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options?: PageOptions,
): Promise<SessionMessage[]> {
  refuseStore(options)
  if (!agentId) return []
  const file = (await subagentFiles(sessionId, options?.dir)).find((found) => found.agentId === agentId)
  if (file === undefined) return []
  const note = parseObject(await readFile(file.path.replace(/\.jsonl$/, ".meta.json"), "utf8").catch(() => ""))
  return readMessages(file.path, {
    select: (entries) => ({
      messages: subagentConversationOf(entries).filter(({ type }) => isMessage(type)),
      localCommands: new Set(),
    }),
    page: options ?? {},
    origin: {
      parentToolUseId: stringIn(note, "toolUseId") ?? null,
      parentAgentId: stringIn(note, "parentAgentId") ?? null,
    },
  })
}

async function subagentFiles(sessionId: string, dir: string | undefined): Promise<SubagentFile[]> {
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
