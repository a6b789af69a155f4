import type { RecordedSession } from "@signalbox/protocol/runner-wire"
import { isSamePlace } from "./same-place.ts"
import { sessionsInUse } from "./session-in-use.ts"
import { describeTranscript, listTranscripts } from "./transcripts.ts"

const MAX_LISTED = 200

/** The conversations that `claude` itself recorded on this machine, the newest first. */
export async function recordedSessions(
  env: Readonly<Record<string, string | undefined>>,
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
