import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { defined, fieldOf, isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import { objectsIn } from "../json.ts"
import type { Launch } from "../launch/launch.ts"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import { dashed } from "../profiles/shared.ts"

export interface OpenedSession extends Pick<StoredSession, "title" | "spending"> {
  readonly sessionId: string
  readonly history: Fields[]
  readonly transcript: Transcript
  readonly source: "startup" | "resume" | "fork"
}

/** A launch the CLI refuses: what it says on stderr, and the session it was asked for. */
export interface RefusedSession {
  readonly refused: string
  readonly sessionId?: string
}

/** The session that the flags speak of: a new one, or one on disk. */
export function openSession(launch: Launch, profile: WireProfile, freshId: string): OpenedSession | RefusedSession {
  const { resume: named, continueLast, fork, resumeAt, sessionId, persist } = launch.session
  const resume = named ?? (continueLast === true ? lastSession(launch) : undefined)
  const id = sessionId ?? freshId
  if (resume === undefined) {
    const isTaken = sessionId !== undefined && existsSync(transcriptPath(launch, id))
    if (isTaken) return { refused: `Error: Session ID ${id} is already in use.` }
    return opened(launch, profile, { id, stored: { entries: [], last: null }, source: "startup" })
  }
  if (sessionId !== undefined && fork !== true) {
    const flags = "--session-id can only be used with --continue or --resume if --fork-session is also specified."
    return { refused: `Error: ${flags}` }
  }
  const stored = loadSession(launch, resume, resumeAt)
  if (stored === undefined) {
    return { refused: `No conversation found with session ID: ${resume}`, sessionId: resume }
  }
  if (fork !== true) return opened(launch, profile, { id: resume, stored, source: "resume" })
  if (persist) writeFork(launch, id, stored)
  return opened(launch, profile, { id, stored, source: "fork" })
}

function opened(
  launch: Launch,
  profile: WireProfile,
  { id, stored, source }: { id: string; stored: StoredSession; source: OpenedSession["source"] },
): OpenedSession {
  const { configDir, cwd } = launch
  // By it, programs tell sessions of programs from those of people. The oldest generation does not write it.
  const entrypoint = profile.quirks.writesEntrypoint ? launch.env["CLAUDE_CODE_ENTRYPOINT"] : undefined
  const { version } = profile
  const options = { configDir, cwd, sessionId: id, version, persist: launch.session.persist, entrypoint }
  const { entries, last, ...about } = stored
  return { ...about, sessionId: id, history: historyOf(entries), transcript: new Transcript(options, last), source }
}

// A session on disk, in the CLI's own layout: <config>/projects/<cwd, dashed>/<session id>.jsonl, an entry per line, each
// naming the one before it.

interface TranscriptPlace {
  readonly configDir: string
  readonly cwd: string
}

interface TranscriptOptions extends TranscriptPlace {
  readonly sessionId: string
  readonly version: string
  readonly persist: boolean
  /** The kind of program that started the agent, as `CLAUDE_CODE_ENTRYPOINT` says it. */
  readonly entrypoint?: string | undefined
  /** A sub-agent's conversation has a file of its own, beside its session's. */
  readonly agentId?: string
}

/** Writes entries as they happen. The file is made with the first one. */
export class Transcript {
  #options: TranscriptOptions
  #last: string | null
  #isMade = false
  /** Told of every entry, for a host that keeps a copy. */
  onEntry: (path: string, entry: Fields) => void = () => undefined

  constructor(options: TranscriptOptions, last: string | null = null) {
    this.#options = options
    this.#last = last
  }

  get path(): string {
    const { sessionId, agentId } = this.#options
    const path = transcriptPath(this.#options, sessionId)
    return agentId === undefined ? path : join(path.replace(/\.jsonl$/, ""), "subagents", `agent-${agentId}.jsonl`)
  }

  /** The file of a sub-agent, and what is told of it beside. */
  ofAgent(agentId: string, about: Fields): Transcript {
    const transcript = new Transcript({ ...this.#options, agentId })
    transcript.onEntry = this.onEntry
    transcript.#describe(about)
    return transcript
  }

  #describe(about: Fields): void {
    if (!this.#options.persist) return
    this.onEntry(this.path, { type: "agent_metadata", ...about })
    this.#onDisk(() => writeFileSync(this.path.replace(/\.jsonl$/, ".meta.json"), JSON.stringify(about)))
  }

  /** Begins another session: what is said from here on is that one's. */
  restart(sessionId: string): void {
    this.#options = { ...this.#options, sessionId }
    this.#last = null
    this.#isMade = false
  }

  add(kind: "user" | "assistant", entry: { message: unknown; uuid: string; timestamp: string; extra?: Fields }): void {
    const { cwd, sessionId, version, entrypoint, agentId } = this.#options
    this.write({
      parentUuid: this.#last,
      isSidechain: agentId !== undefined,
      ...defined({ agentId }),
      userType: "external",
      ...defined({ entrypoint }),
      cwd,
      sessionId,
      version,
      // As a CLI writes it outside of a repository; a simulator looks for none.
      gitBranch: "HEAD",
      type: kind,
      message: entry.message,
      ...entry.extra,
      uuid: entry.uuid,
      timestamp: entry.timestamp,
    })
    this.#last = entry.uuid
  }

  write(line: Fields): void {
    if (!this.#options.persist) return
    this.onEntry(this.path, line)
    this.#onDisk(() => appendFileSync(this.path, `${JSON.stringify(line)}\n`))
  }

  #onDisk(write: () => void): void {
    try {
      if (!this.#isMade) mkdirSync(dirname(this.path), { recursive: true })
      this.#isMade = true
      write()
    } catch {
      // A disk that would not have it: a simulator goes on without.
    }
  }
}

function projectFolder({ configDir, cwd }: TranscriptPlace): string {
  return join(configDir, "projects", dashed(cwd))
}

export function transcriptPath(place: TranscriptPlace, sessionId: string): string {
  return join(projectFolder(place), `${sessionId}.jsonl`)
}

interface StoredSession {
  readonly entries: readonly Fields[]
  /** The uuid of the last entry. */
  readonly last: string | null
  /** The name that somebody gave the session. */
  readonly title?: string | undefined
  /** Its cost so far, by model. */
  readonly spending?: Readonly<Fields> | undefined
}

/** The stored session, up to and with the message `at` if one is named; undefined when there is none. */
export function loadSession(place: TranscriptPlace, sessionId: string, at?: string): StoredSession | undefined {
  const path = transcriptPath(place, sessionId)
  if (!existsSync(path)) return undefined
  const all = readFileSync(path, "utf8")
    .split("\n")
    .map(parseObject)
    .filter((entry) => entry !== undefined)
  const branch = conversationOf(all)
  const cut = at === undefined ? -1 : branch.findIndex((entry) => entry["uuid"] === at)
  const entries = cut === -1 ? branch : branch.slice(0, cut + 1)
  const title = textOf(
    all.findLast(({ type }) => type === "custom-title"),
    "customTitle",
  )
  const spending = fieldOf(
    all.findLast(({ type }) => type === "cost-state"),
    "modelUsage",
  )
  return { entries, last: textOf(entries.at(-1), "uuid") ?? null, title, spending }
}

/** The session written last in this folder. */
function lastSession(place: TranscriptPlace): string | undefined {
  const folder = projectFolder(place)
  if (!existsSync(folder)) return undefined
  const files = readdirSync(folder).filter((file) => file.endsWith(".jsonl"))
  const dated = files.map((file) => ({ file, at: statSync(join(folder, file)).mtimeMs }))
  return dated.toSorted((a, b) => b.at - a.at)[0]?.file.replace(/\.jsonl$/, "")
}

/** A fork begins as a copy under its own id. */
function writeFork(place: TranscriptPlace, sessionId: string, stored: StoredSession): void {
  const path = transcriptPath(place, sessionId)
  mkdirSync(dirname(path), { recursive: true })
  const chained = stored.entries.map((entry, index) => ({
    ...entry,
    // Entries between two messages are left out, so each names the message before it.
    parentUuid: stored.entries[index - 1]?.["uuid"] ?? null,
    sessionId,
  }))
  writeFileSync(path, chained.map((entry) => `${JSON.stringify(entry)}\n`).join(""))
}

/** The history as the model is told it: entries of one message put together again. */
function historyOf(entries: readonly Fields[]): Fields[] {
  const history: Fields[] = []
  for (const { message } of entries) {
    if (!isObject(message)) continue
    const before = history.at(-1)
    const content = blocksOf(message["content"])
    if (before !== undefined && before["role"] === message["role"] && Array.isArray(before["content"])) {
      history[history.length - 1] = { ...before, content: [...before["content"], ...content] }
    } else history.push({ role: message["role"], content })
  }
  return history
}

function blocksOf(content: unknown): unknown[] {
  return Array.isArray(content) ? content : [{ type: "text", text: typeof content === "string" ? content : "" }]
}

/**
 * The messages that lead to the last one. A session that was resumed in its middle has several ends: every entry names
 * the one before it, and what hangs on another branch is no part of the conversation any more.
 */
function conversationOf(all: readonly Fields[]): Fields[] {
  const isMessage = ({ type, isSidechain }: Fields) => (type === "user" || type === "assistant") && isSidechain !== true
  const messages = all.filter(isMessage)
  const byUuid = new Map(all.map((entry) => [textOf(entry, "uuid") ?? "", entry]))
  const onBranch = new Set<Fields>()
  let entry = messages.at(-1)
  while (entry !== undefined && !onBranch.has(entry)) {
    onBranch.add(entry)
    entry = byUuid.get(textOf(entry, "parentUuid") ?? "")
  }
  const ids = new Set([...onBranch].flatMap(({ message }) => textOf(message, "id") ?? []))
  const uses = new Set([...onBranch].flatMap(({ message }) => blockIds(message, "id")))
  // Calls made at once hang side by side: they belong to the reply they are part of, and results to their call.
  return messages.filter(
    (message) =>
      onBranch.has(message) ||
      ids.has(textOf(message["message"], "id") ?? "") ||
      blockIds(message["message"], "tool_use_id").some((id) => uses.has(id)),
  )
}

function blockIds(message: unknown, key: "id" | "tool_use_id"): string[] {
  return isObject(message) ? objectsIn(message["content"]).flatMap((block) => textOf(block, key) ?? []) : []
}
