import {
  archiveSession,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  listSessions,
  listSubagents,
  renameSession,
  type SessionStore,
  type SessionStoreEntry,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, context, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const one = "d1ff0000-0000-4000-8000-000000000001"
const two = "d1ff0000-0000-4000-8000-000000000002"
const none = "d1ff0000-0000-4000-8000-00000000000e"

function said(sessionId: string, n: number, fields: Record<string, unknown> = {}): SessionStoreEntry {
  const uuid = (at: number) => `d1ff0000-0000-4000-8000-0000000000${10 + at}`
  const role = n % 2 === 0 ? "user" : "assistant"
  return {
    type: role,
    uuid: uuid(n),
    parentUuid: n === 0 ? null : uuid(n - 1),
    sessionId,
    timestamp: `2026-01-01T00:00:0${n}.000Z`,
    cwd: "/somewhere",
    gitBranch: "main",
    isSidechain: false,
    message: { role, content: role === "user" ? `prompt ${n}` : [{ type: "text", text: `answer ${n}` }] },
    ...fields,
  }
}

/** Every function on sessions, with a store instead of the disk, and which calls of the store it takes. */
export async function run(): Promise<void> {
  const dir = context().cwd
  const kept = new InMemorySessionStore()
  const projectKey = dir.replaceAll(/[^a-zA-Z0-9]/g, "-")
  await kept.append(
    { projectKey, sessionId: one },
    [0, 1, 2, 3].map((n) => said(one, n)),
  )
  await kept.append({ projectKey, sessionId: two }, [said(two, 0, { message: { role: "user", content: "other" } })])
  const aside = [0, 1].map((n) => said(one, n, { isSidechain: true, agentId: "x" }))
  await kept.append({ projectKey, sessionId: one, subpath: "subagents/agent-x" }, [
    { type: "agent_metadata", toolUseId: "toolu_1", parentAgentId: "p" },
    ...aside,
  ])
  const store: SessionStore = {
    append: (key, entries) => (observe("store", { append: key, entries }), kept.append(key, entries)),
    load: (key) => (observe("store", { load: key }), kept.load(key)),
    listSessions: (key) => (observe("store", { listSessions: key }), kept.listSessions(key)),
    delete: (key) => (observe("store", { delete: key }), kept.delete(key)),
    listSubkeys: (key) => (observe("store", { listSubkeys: key }), kept.listSubkeys(key)),
  }
  for (const sessionStore of [store, kept]) {
    const place = { dir, sessionStore }
    await attempt("list", () => listSessions(place))
    await attempt("list a page", () => listSessions({ ...place, limit: 1, offset: 1 }))
    for (const id of [one, none, "no id"]) {
      await attempt("info", () => getSessionInfo(id, place))
      await attempt("messages", () => getSessionMessages(id, { ...place, offset: 1, limit: 2 }))
      await attempt("subagents", () => listSubagents(id, place))
      await attempt("subagent", () => getSubagentMessages(id, "x", place))
    }
    await attempt("rename", () => renameSession(one, " A name ", place))
    await attempt("rename to nothing", () => renameSession(one, " ", place))
    await attempt("tag", () => tagSession(one, "keep", place))
    await attempt("untag", () => tagSession(one, null, place))
    await attempt("rename what is not there", () => renameSession(none, "x", place))
    await attempt("info", () => getSessionInfo(one, place))
    await attempt("archive", () => archiveSession(one, place))
    await attempt("fork", async () => Object.keys(await forkSession(one, place)))
    await attempt("fork a part", async () => {
      const upToMessageId = "d1ff0000-0000-4000-8000-000000000011"
      const { sessionId } = await forkSession(one, { ...place, upToMessageId, title: "A part" })
      return getSessionMessages(sessionId, place)
    })
    await attempt("fork up to nothing", () => forkSession(one, { ...place, upToMessageId: none }))
    await attempt("fork what is not there", () => forkSession(none, place))
    await attempt("fork no id", () => forkSession("no id", place))
    await attempt("delete", () => deleteSession(two, place))
    await attempt("delete no id", () => deleteSession("no id", place))
    await attempt("list", async () => (await listSessions(place)).map(({ summary }) => summary).sort())
  }
  const bare = { dir, sessionStore: { append: async () => {}, load: async () => null } }
  await attempt("list without", () => listSessions(bare))
  await attempt("subagents without", () => listSubagents(one, bare))
  await attempt("delete without", () => deleteSession(one, bare))
}
