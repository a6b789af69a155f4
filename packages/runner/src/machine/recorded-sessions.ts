import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseObject } from "@signalbox/protocol/envelope"
import type { RecordedSession } from "@signalbox/protocol/runner-wire"
import { processTable } from "../state/process-table.ts"
import { isSamePlace } from "./folders.ts"
import { configFolder, describeTranscript, listTranscripts } from "./transcripts.ts"

type Environment = Readonly<Record<string, string | undefined>>

const MAX_NOTES = 1_000

/**
 * The living processes of this machine that are at work on a session, by the session's id. Newer CLIs write down what each
 * process is at; older ones are known by their command line, where that can be read.
 */
export async function sessionsInUse(env: Environment): Promise<ReadonlyMap<string, number>> {
  const living = new Map((await processTable()).map((entry) => [entry.pid, entry.startedAt]))
  const inUse = new Map<string, number>()
  if (process.platform === "linux") {
    for (const pid of living.keys()) {
      const sessionId = sessionInArguments(await argumentsOf(pid))
      if (sessionId !== undefined) inUse.set(sessionId, pid)
    }
  }
  for (const { sessionId, pid, procStart } of await processNotes(env)) {
    const startedAt = living.get(pid)
    if (startedAt === undefined) continue
    // On Linux the note has the start time too, in the kernel's count: a number that is another's by now is no use.
    const isSame = process.platform !== "linux" || procStart === undefined || startedAt.endsWith(`/${procStart}`)
    if (isSame) inUse.set(sessionId, pid)
  }
  return inUse
}

interface ProcessNote {
  readonly pid: number
  readonly sessionId: string
  readonly procStart: string | undefined
}

async function processNotes(env: Environment): Promise<ProcessNote[]> {
  const folder = join(configFolder(env), "sessions")
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d+\.json$/.test(name)).slice(0, MAX_NOTES)
  const notes = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")))
  return notes.flatMap((text) => readNote(text) ?? [])
}

function readNote(text: string): ProcessNote | undefined {
  const { pid, sessionId, procStart } = parseObject(text) ?? {}
  if (typeof pid !== "number" || typeof sessionId !== "string") return undefined
  return { pid, sessionId, procStart: typeof procStart === "string" ? procStart : undefined }
}

async function argumentsOf(pid: number): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0")
}

/** A fork leaves the session that it began from alone. */
function sessionInArguments(args: readonly string[]): string | undefined {
  if (args.includes("--fork-session")) return undefined
  for (const [at, arg] of args.entries()) {
    const match = /^(?:--resume|--session-id|-r)(?:=(.+))?$/.exec(arg)
    if (match !== null) return isClaude(args.slice(0, at)) ? (match[1] ?? args[at + 1]) : undefined
  }
  return undefined
}

/** Not one of ours that is asked to resume it: `signalbox new --resume` would find itself. */
function isClaude(command: readonly string[]): boolean {
  const isOurs = command.some((arg) => /(?:^|[\\/])signalbox(?:-shim)?(?:\.mjs)?$/.test(arg))
  return !isOurs && command.some((arg) => /claude/i.test(arg))
}

const MAX_LISTED = 200

/** The conversations that `claude` itself recorded on this machine, the newest first. */
export async function recordedSessions(
  env: Environment,
  cwd: string | undefined,
): Promise<{ sessions: RecordedSession[]; more: boolean }> {
  const files = await listTranscripts(env, cwd)
  const inUse = await sessionsInUse(env)
  const sessions: RecordedSession[] = []
  for (const file of files) {
    if (sessions.length === MAX_LISTED) return { sessions, more: true }
    const { cwd: recordedIn, summary, isAside } = await describeTranscript(file)
    if (isAside) continue
    // Two paths can have one folder of transcripts: /a/b and /a-b.
    if (cwd !== undefined && recordedIn !== undefined && !(await isSamePlace(cwd, recordedIn))) continue
    sessions.push({
      sessionId: file.sessionId,
      cwd: recordedIn ?? null,
      summary: summary ?? null,
      updatedAt: new Date(file.modifiedMs).toISOString(),
      sizeBytes: file.sizeBytes,
      inUse: inUse.has(file.sessionId),
    })
  }
  return { sessions, more: false }
}
