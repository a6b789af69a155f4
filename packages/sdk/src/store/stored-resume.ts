import { randomUUID } from "node:crypto"
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { isObject, parseObject } from "../base/wire.ts"
import { environmentOf } from "../launch/capture.ts"
import { projectKeyOf } from "../sessions/project-folder.ts"
import { isSessionId } from "../sessions/session-file.ts"
import type { Options } from "../types/options.ts"
import type { SessionKey, SessionStore, SessionStoreEntry } from "../types/session-store.ts"
import { askStore } from "./ask-store.ts"
import { configFile, configFolder } from "./transcript-mirror.ts"

const LOAD_TIMEOUT_MS = 60_000
const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700

/** The options an agent is started with so that it resumes what the store has. */
export interface StoredResume {
  readonly options: Options
  readonly cleanUp: () => Promise<void>
}

interface Wanted {
  readonly key: SessionKey
  readonly entries: readonly SessionStoreEntry[]
}

/**
 * An agent resumes from its disk only. So the session is written to a configuration folder of its own, which it is given
 * instead of the user's and which is removed when it is gone. A session that the store does not have is the agent's affair.
 */
export async function resumeFromStore(
  options: Options,
  store: SessionStore,
  signal: AbortSignal,
): Promise<StoredResume> {
  const loader = new Loader(store, options.loadTimeoutMs ?? LOAD_TIMEOUT_MS, signal)
  const wanted = await wantedSession(options, loader)
  // A store without a session to continue means a new one, not the last on this disk.
  const plain = options.continue === true ? { ...options, continue: undefined } : options
  if (wanted === undefined) return { options: plain, cleanUp: async () => undefined }
  const folder = join(tmpdir(), `claude-resume-${randomUUID()}`)
  const cleanUp = () => rm(folder, { recursive: true, force: true, maxRetries: 4 }).catch(() => undefined)
  const env = environmentOf(options)
  try {
    await mkdir(folder, { mode: PRIVATE_FOLDER })
    await copyConfiguration(env, folder)
    await writeSession(wanted, folder, loader)
  } catch (error) {
    await cleanUp()
    throw error
  }
  const resume = wanted.key.sessionId
  return { options: { ...plain, resume, env: { ...env, CLAUDE_CONFIG_DIR: folder } }, cleanUp }
}

/** Questions to the store, each within its time. */
class Loader {
  readonly #store: SessionStore
  readonly #limit: { readonly ms: number; readonly signal: AbortSignal }

  constructor(store: SessionStore, ms: number, signal: AbortSignal) {
    this.#store = store
    this.#limit = { ms, signal }
  }

  load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const subpath = key.subpath === undefined ? "" : ` subpath ${key.subpath}`
    const what = `load() for session ${key.sessionId}${subpath}`
    return askStore({ ...this.#limit, what }, async () => {
      const entries = await this.#store.load(key)
      if (entries !== null && !Array.isArray(entries))
        throw new TypeError("SessionStore.load() gave no list of entries")
      return entries
    })
  }

  subkeys(key: SessionKey): Promise<string[]> {
    const what = `listSubkeys() for session ${key.sessionId}`
    return askStore({ ...this.#limit, what }, async () => (await this.#store.listSubkeys?.(key)) ?? [])
  }

  async latest(projectKey: string): Promise<string | undefined> {
    const ask = async () => (await this.#store.listSessions?.(projectKey)) ?? []
    const sessions = await askStore({ ...this.#limit, what: "listSessions()" }, ask)
    return sessions.toSorted((a, b) => b.mtime - a.mtime)[0]?.sessionId
  }
}

async function wantedSession(options: Options, loader: Loader): Promise<Wanted | undefined> {
  const projectKey = await projectKeyOf(options.cwd ?? process.cwd())
  const sessionId = options.resume ?? (options.continue === true ? await loader.latest(projectKey) : undefined)
  // It becomes part of a path; what is no id may be the title of a session on disk.
  if (sessionId === undefined || !isSessionId(sessionId)) return undefined
  const entries = await loader.load({ projectKey, sessionId })
  return entries === null || entries.length === 0 ? undefined : { key: { projectKey, sessionId }, entries }
}

async function writeSession({ key, entries }: Wanted, folder: string, loader: Loader): Promise<void> {
  const projects = join(folder, "projects", key.projectKey)
  await writeTranscript(join(projects, `${key.sessionId}.jsonl`), entries)
  for (const subpath of await loader.subkeys(key)) {
    if (!isPlainPath(subpath)) continue
    const aside = await loader.load({ ...key, subpath })
    if (aside !== null && aside.length > 0) await writeSubagent(join(projects, key.sessionId, subpath), aside)
  }
}

/** A store may come from anywhere; nothing of it is written outside of the folder that was made for it. */
function isPlainPath(subpath: string): boolean {
  return subpath.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !/[\\:\0]/.test(part))
}

/** A subagent's file of the CLI's is an entry among the others in a store. */
async function writeSubagent(path: string, entries: readonly SessionStoreEntry[]): Promise<void> {
  const isNote = ({ type }: SessionStoreEntry) => type === "agent_metadata"
  await writeTranscript(
    `${path}.jsonl`,
    entries.filter((entry) => !isNote(entry)),
  )
  const note = entries.findLast(isNote)
  if (note === undefined) return
  const { type: _type, ...metadata } = note
  await writeFile(`${path}.meta.json`, JSON.stringify(metadata), { mode: PRIVATE_FILE })
}

async function writeTranscript(path: string, entries: readonly SessionStoreEntry[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER })
  await writeFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: PRIVATE_FILE })
}

/** The agent's needs of the user's own: who it is, and the settings. A missing file is not missed. */
async function copyConfiguration(env: NonNullable<Options["env"]>, folder: string): Promise<void> {
  const source = configFolder(env)
  await copyFile(configFile(env), join(folder, ".claude.json")).catch(() => undefined)
  const settings = join(folder, "settings.json")
  await copyFile(join(source, "settings.json"), settings)
    .then(() => chmod(settings, PRIVATE_FILE))
    .catch(() => undefined)
  const credentials = await readFile(join(source, ".credentials.json"), "utf8").catch(() => undefined)
  if (credentials === undefined) return
  await writeFile(join(folder, ".credentials.json"), withoutRefresh(credentials), { mode: PRIVATE_FILE })
}

/** Renewing a sign-in makes the old one void: done in a folder that is thrown away, it would sign the user out. */
function withoutRefresh(credentials: string): string {
  const parsed = parseObject(credentials)
  const own = parsed?.["claudeAiOauth"]
  if (!isObject(own)) return credentials
  const { refreshToken: _refreshToken, ...kept } = own
  return JSON.stringify({ ...parsed, claudeAiOauth: kept })
}
