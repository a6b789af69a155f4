import { access, mkdtemp, stat } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { LaunchSpec } from "@signalbox/protocol/runner-wire"
import { Refusal } from "../errors.ts"
import { expandHome, isSamePlace } from "./folders.ts"
import { sessionsInUse } from "./recorded-sessions.ts"
import { describeTranscript, findTranscript } from "./transcripts.ts"

/** A living agent of ours that is at a session. */
export interface OwnSession {
  readonly pid: number
  /** Settles when it is gone; undefined while nobody ends it. */
  readonly leaving: Promise<unknown> | undefined
}

export interface ResumeCheck {
  readonly env: Readonly<Record<string, string>>
  /** By the CLI's own ids, the sessions that our living agents are at. */
  readonly ours: () => ReadonlyMap<string, OwnSession>
}

/** The folder in which an agent is to be started, after everything was looked at that would make it fail there. */
export async function folderForLaunch(asked: LaunchSpec, check: ResumeCheck): Promise<string> {
  const spec = asked.cwd === undefined ? asked : { ...asked, cwd: expandHome(asked.cwd) }
  if (spec.resume === undefined) {
    // A demo must not touch anybody's files.
    if (spec.cwd === undefined && spec.agent === "simulator") return mkdtemp(join(tmpdir(), "signalbox-simulator-"))
    return requireFolder(spec.cwd ?? homedir())
  }
  if (isWorktreeAsked(spec)) {
    const message = `session ${spec.resume} goes on in the folder it was recorded in, which a new worktree is not: leave the worktree out, or begin a new session`
    throw new Refusal("runner/worktree", message)
  }
  if (spec.fork !== true) await requireUnused(spec.resume, check)
  const transcript = await findTranscript(spec.resume, { env: check.env, cwd: spec.cwd })
  if (transcript === undefined) {
    // Another program's records, and where they are, are its own affair.
    if (typeof spec.agent === "object") return requireFolder(spec.cwd ?? homedir())
    throw new Refusal(
      "runner/no-transcript",
      `this machine has no record of session ${spec.resume}: resume it where it was recorded, or begin a new session`,
    )
  }
  const { cwd: recordedIn } = await describeTranscript(transcript)
  if (spec.cwd === undefined) return requireFolder(recordedIn ?? homedir(), spec.resume)
  const folder = await requireFolder(spec.cwd)
  if (recordedIn === undefined || (await isSamePlace(folder, recordedIn))) return folder
  throw new Refusal(
    "runner/no-transcript",
    `session ${spec.resume} was recorded in ${recordedIn}, not in ${spec.cwd}: resume it there, or leave the folder out`,
    { details: { recordedIn } },
  )
}

export function isWorktreeAsked({ worktree }: LaunchSpec): boolean {
  return worktree !== undefined && worktree !== false
}

async function requireFolder(path: string, ofSession?: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  const isThere = isAbsolute(path) && found?.isDirectory() === true
  if (
    isThere &&
    (await access(path).then(
      () => true,
      () => false,
    ))
  )
    return path
  if (!isAbsolute(path) && ofSession === undefined)
    throw new Refusal("runner/no-folder", `${path} is not an absolute path: begin it at the root, or with ~/`)
  const problem = found === undefined ? "does not exist" : "is no folder"
  throw new Refusal(
    "runner/no-folder",
    ofSession === undefined
      ? `${path} ${problem} on this machine: make it, or choose another folder`
      : `session ${ofSession} belongs to ${path}, which ${problem} any more: make that folder again, then resume it`,
  )
}

async function requireUnused(sessionId: string, { env, ours }: ResumeCheck): Promise<void> {
  const before = ours().get(sessionId)
  await before?.leaving
  const now = ours().get(sessionId)
  // Gone, although what it said last may still be being read.
  const own = before?.leaving !== undefined && now?.pid === before.pid ? undefined : now?.pid
  const pid = own ?? (await sessionsInUse(env)).get(sessionId)
  if (pid === undefined) return
  const where = own === undefined ? "a claude that was started elsewhere, as in a terminal" : "an agent of this runner"
  throw new Refusal(
    "runner/session-in-use",
    `session ${sessionId} is in use by ${where} (pid ${pid}): leave it there first, or fork the session`,
    { details: { pid } },
  )
}
