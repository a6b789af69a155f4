import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"
import { ensureOfficialSdk } from "../../../../scripts/official-sdk.mjs"
import * as ours from "../../src/sessions/index.ts"
import { makeWorld } from "./transcripts.ts"

export type SessionFunctions = Pick<
  typeof ours,
  | "archiveSession"
  | "deleteSession"
  | "forkSession"
  | "getSessionInfo"
  | "getSessionMessages"
  | "getSubagentMessages"
  | "listSessions"
  | "listSubagents"
  | "renameSession"
  | "tagSession"
  | "unarchiveSession"
>

const OFFICIAL_VERSION = "0.3.325"

let official: Promise<SessionFunctions> | undefined

/** The official package is run here and never read; what it is typed as is what ours is. */
function officialSdk(): Promise<SessionFunctions> {
  official ??= ensureOfficialSdk(OFFICIAL_VERSION).then(
    ({ entry }) => import(/* @vite-ignore */ entry) as Promise<SessionFunctions>,
  )
  return official
}

/** What a call gave: its value, or the message of what it threw. */
export async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await call() }
  } catch (error) {
    return { thrown: error instanceof Error ? error.message : error }
  }
}

/** Runs the same calls on both and expects the same of them. */
export async function expectSame(run: (sdk: SessionFunctions) => Promise<unknown>): Promise<unknown> {
  const [theirs, mine] = [await run(await officialSdk()), await run(ours)]
  expect(mine).toEqual(theirs)
  return mine
}

/** Everything that can be read of what is stored. */
export async function readAll(sdk: SessionFunctions): Promise<unknown> {
  const sessions = await sdk.listSessions()
  const details = []
  for (const { sessionId } of sessions) {
    const agents = await sdk.listSubagents(sessionId)
    details.push({
      info: await sdk.getSessionInfo(sessionId),
      messages: await sdk.getSessionMessages(sessionId),
      withSystem: await sdk.getSessionMessages(sessionId, { includeSystemMessages: true }),
      agents,
      agentMessages: await Promise.all(agents.map((agent) => sdk.getSubagentMessages(sessionId, agent))),
    })
  }
  return { sessions, details }
}

/** Makes the same folder twice, lets each change its own, and expects the same files apart from new ids and times. */
export async function expectSameChange(
  files: Readonly<Record<string, string>>,
  change: (sdk: SessionFunctions) => Promise<unknown>,
): Promise<Readonly<Record<string, string>>> {
  const results = []
  for (const sdk of [await officialSdk(), ours]) {
    const world = await makeWorld(files)
    try {
      const result = await outcome(() => change(sdk))
      const renamer = createRenamer(Object.values(files).join("\n"))
      results.push({ files: tree(world.config, renamer), result: JSON.parse(renamer(JSON.stringify(result))) })
    } finally {
      await world.remove()
    }
  }
  const [theirs, mine] = results
  expect(mine).toEqual(theirs)
  return mine?.files ?? {}
}

/** Ids that were not there before are numbered in the order they come up; times of today become one word. */
function createRenamer(before: string): (text: string) => string {
  const names = new Map<string, string>()
  const today = new Date().toISOString().slice(0, 8)
  return (text) =>
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, (uuid) => {
        if (before.includes(uuid)) return uuid
        if (!names.has(uuid)) names.set(uuid, `new-id-${names.size + 1}`)
        return names.get(uuid) ?? uuid
      })
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, (time) =>
        before.includes(time) || !time.startsWith(`"${today}`) ? time : '"now"',
      )
}

function tree(folder: string, rename: (text: string) => string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  )
  const found = paths.map((path) => ({ path, mode: (statSync(join(folder, path)).mode & 0o777).toString(8) }))
  // The oldest first, so that new ids come up in the same order on both sides.
  found.sort((a, b) => statSync(join(folder, a.path)).mtimeMs - statSync(join(folder, b.path)).mtimeMs)
  return Object.fromEntries(
    found.map(({ path, mode }) => {
      const content = rename(readFileSync(join(folder, path), "utf8"))
      return [rename(path), `${mode} ${content}`]
    }),
  )
}
