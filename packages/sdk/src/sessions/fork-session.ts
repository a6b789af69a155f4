import { randomUUID } from "node:crypto"
import { open, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { SessionError } from "../base/errors.ts"
import { defined, fieldOf, isObject, parseObject, textOf } from "../base/wire.ts"
import type { SessionStore, SessionStoreEntry } from "../types/session-store.ts"
import { beyondProgress } from "./conversation.ts"
import { type Excerpt, excerptOfEntries, readExcerpt } from "./excerpt.ts"
import type { SessionOptions } from "./session-file.ts"
import { requireSession, requireSessionId, type SessionFile } from "./session-file.ts"
import { titleInFile, titleOf } from "./session-info.ts"
import { firstPromptIn } from "./session-summary.ts"
import { loadStored, storedKey } from "./stored-session.ts"
import { type Transcript, transcriptInFile, transcriptOfEntries } from "./transcript.ts"

type Json = Readonly<Record<string, unknown>>

export interface ForkSessionOptions extends SessionOptions {
  /** The last message of the fork; left out: all of the session. */
  upToMessageId?: string
  /** Left out: the session's own, marked as a fork. */
  title?: string
}

export interface ForkSessionResult {
  sessionId: string
}

/** The CLI's notes on a session beside the conversation, as far as a fork takes them along. */
interface SessionState {
  readonly replacements: unknown[]
  latch?: string
  tools?: string[]
}

/** A first look at the transcript, before a line is copied. */
interface Survey {
  /** Old uuid to new, of every entry that is copied. */
  readonly renamed: ReadonlyMap<string, string>
  /** Progress lines are left out; who hangs on one is hung on what it hangs on. */
  readonly progress: ReadonlyMap<string, string | undefined>
  readonly state: SessionState
  /** How many entries are copied. */
  readonly count: number
}

const COPIED = new Set(["user", "assistant", "attachment", "system"])
const UNNAMED = "Forked session"
/** Fields that tie an entry to processes and messages of the old session. */
const DROPPED = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"]

/** Copies a session under a new id, up to a message or whole. The session itself is left as it is. */
export async function forkSession(sessionId: string, options?: ForkSessionOptions): Promise<ForkSessionResult> {
  if (options?.sessionStore !== undefined) return forkStored(options.sessionStore, sessionId, options)
  const source = await requireForkable(sessionId, options?.dir)
  const forkId = randomUUID()
  const path = join(dirname(source.path), `${forkId}.jsonl`)
  const title = options?.title?.trim() || `${await nameOf(source)} (fork)`
  const file = await open(source.path, "r")
  try {
    const input = transcriptInFile(file)
    const survey = await look(input, sessionId, options?.upToMessageId || undefined)
    const output = await open(path, "wx", 0o600)
    try {
      for await (const entry of copied(input, { survey, sessionId, forkId, title }))
        await output.write(`${JSON.stringify(entry)}\n`)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await output.close()
    }
  } finally {
    await file.close()
  }
  return { sessionId: forkId }
}

async function forkStored(
  store: SessionStore,
  sessionId: string,
  options: ForkSessionOptions,
): Promise<ForkSessionResult> {
  requireSessionId(sessionId)
  const entries = await loadStored(store, sessionId, options)
  const input = transcriptOfEntries(entries)
  const survey = await look(input, sessionId, options.upToMessageId || undefined)
  const forkId = randomUUID()
  const { excerpt } = excerptOfEntries(entries)
  const title = options.title?.trim() || `${await nameIn(excerpt, async () => undefined)} (fork)`
  const fork: SessionStoreEntry[] = []
  for await (const entry of copied(input, { survey, sessionId, forkId, title }))
    fork.push({ ...entry, type: textOf(entry, "type") ?? "" })
  await store.append(await storedKey(forkId, options), fork)
  return { sessionId: forkId }
}

async function requireForkable(sessionId: string, dir: string | undefined): Promise<SessionFile> {
  try {
    return await requireSession(sessionId, dir, { withLinks: true })
  } catch (error) {
    if (!(error instanceof SessionError) || error.code !== "session/not-found" || dir) throw error
    throw new SessionError("session/not-found", `Session ${sessionId} not found`)
  }
}

async function nameOf(source: SessionFile): Promise<string> {
  const excerpt = await readExcerpt(source.path, source.size)
  return excerpt === undefined ? UNNAMED : nameIn(excerpt, () => titleInFile(source))
}

async function nameIn(excerpt: Excerpt, titleInNotes: () => Promise<string | undefined>): Promise<string> {
  return (await titleOf(excerpt, titleInNotes)) || firstPromptIn(excerpt.head) || UNNAMED
}

async function look(input: Transcript, sessionId: string, upTo: string | undefined): Promise<Survey> {
  const renamed = new Map<string, string>()
  const progress = new Map<string, string | undefined>()
  const state: SessionState = { replacements: [] }
  let [count, isComplete] = [0, false]
  for await (const { text } of input.lines()) {
    const line = parseObject(text)
    const uuid = textOf(line, "uuid")
    if (line?.["sessionId"] === sessionId) noteState(line, state)
    if (line?.["type"] === "progress" && uuid !== undefined) progress.set(uuid, textOf(line, "parentUuid"))
    if (isComplete || !isCopied(line) || uuid === undefined) continue
    count++
    if (!renamed.has(uuid)) renamed.set(uuid, randomUUID())
    isComplete = uuid === upTo
  }
  if (count === 0) throw new SessionError("session/empty", `Session ${sessionId} has no messages to fork`)
  if (upTo !== undefined && !isComplete)
    throw new SessionError("session/no-such-message", `Message ${upTo} not found in session ${sessionId}`)
  return { renamed, progress, state, count }
}

/** Taken along whole, also of what comes after the last message of the fork. */
function noteState(line: Json, state: SessionState): void {
  const { type, replacements, atis, tools } = line
  if (type === "content-replacement" && Array.isArray(replacements)) state.replacements.push(...replacements)
  if (type === "atis-latch" && typeof atis === "string") state.latch = atis
  if (type === "tools-used" && Array.isArray(tools)) state.tools = tools.filter((name) => typeof name === "string")
}

function isCopied(line: Json | undefined): line is Json {
  return line !== undefined && COPIED.has(textOf(line, "type") ?? "") && line["isSidechain"] !== true
}

interface CopyPlan {
  readonly survey: Survey
  readonly sessionId: string
  readonly forkId: string
  readonly title: string
}

/** The lines of the fork. */
async function* copied(input: Transcript, plan: CopyPlan): AsyncGenerator<Json> {
  const { survey, forkId, title } = plan
  const now = new Date().toISOString()
  const note = () => ({ uuid: randomUUID(), timestamp: now })
  let count = 0
  for await (const { text } of input.lines()) {
    if (count === survey.count) break
    const line = parseObject(text)
    if (!isCopied(line) || textOf(line, "uuid") === undefined) continue
    count++
    // The fork is as old as its making: its last entry carries the time of it.
    yield forkedEntry(line, count === survey.count ? now : line["timestamp"], plan)
  }
  const { replacements, latch, tools } = survey.state
  if (replacements.length > 0) yield { type: "content-replacement", sessionId: forkId, replacements, ...note() }
  if (latch !== undefined) yield { type: "atis-latch", sessionId: forkId, atis: latch }
  if (tools !== undefined) yield { type: "tools-used", sessionId: forkId, tools }
  yield { type: "custom-title", sessionId: forkId, customTitle: title, ...note() }
}

function forkedEntry(line: Json, timestamp: unknown, { survey, sessionId, forkId }: CopyPlan): Json {
  const uuid = textOf(line, "uuid") ?? ""
  const newName = (old: unknown) => (typeof old === "string" ? (survey.renamed.get(old) ?? old) : old)
  const newParent = (old: unknown) => (typeof old === "string" ? (survey.renamed.get(old) ?? null) : null)
  const entry: Record<string, unknown> = {
    ...line,
    uuid: newName(uuid),
    parentUuid: newParent(beyondProgress(textOf(line, "parentUuid"), survey.progress)),
    ...(line["logicalParentUuid"] === undefined ? {} : { logicalParentUuid: newParent(line["logicalParentUuid"]) }),
    sessionId: forkId,
    timestamp,
    isSidechain: false,
    ...renamedMetadata(fieldOf(line, "compactMetadata"), newName),
    forkedFrom: { sessionId, messageUuid: uuid },
  }
  for (const name of DROPPED) delete entry[name]
  return entry
}

/** A compaction names messages it kept; in the fork they have new names. */
function renamedMetadata(metadata: Json | undefined, newName: (old: unknown) => unknown): Json {
  if (metadata === undefined) return {}
  const { preservedMessages, preservedSegment, ...others } = metadata
  const renamed = (kept: unknown) =>
    isObject(kept)
      ? Object.fromEntries(
          Object.entries(kept).map(([key, old]) => [key, Array.isArray(old) ? old.map(newName) : newName(old)]),
        )
      : kept
  return {
    compactMetadata: {
      ...others,
      ...defined({ preservedMessages: renamed(preservedMessages), preservedSegment: renamed(preservedSegment) }),
    },
  }
}
