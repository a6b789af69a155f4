import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  query,
  renameSession,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "Said hi." }] }] }

const sessionId = "d1ff0000-0000-4000-8000-0000000000d1"

export async function run(): Promise<void> {
  const options = { ...basics(), sessionId, allowedTools: ["Bash"] }
  for await (const message of query({ prompt: "say hi", options }))
    if (message.type === "result") observe("result", message.subtype)
  const dir = context().cwd
  await attempt("list", () => listSessions({ dir, includeProgrammatic: true }))
  await attempt("list, default", () => listSessions({ dir }))
  await attempt("info", () => getSessionInfo(sessionId, { dir }))
  await attempt("messages", () => getSessionMessages(sessionId, { dir }))
  await attempt("messages, one", () => getSessionMessages(sessionId, { dir, limit: 1, offset: 1 }))
  await attempt("rename", () => renameSession(sessionId, "A better name", { dir }))
  await attempt("tag", () => tagSession(sessionId, "keep", { dir }))
  await attempt("info", () => getSessionInfo(sessionId, { dir }))
  await attempt("untag", () => tagSession(sessionId, null, { dir }))
  await attempt("info", () => getSessionInfo(sessionId, { dir }))
  await attempt("fork", async () => Object.keys(await forkSession(sessionId, { dir, title: "The fork" })))
  await attempt("list", async () =>
    (await listSessions({ dir, includeProgrammatic: true })).map(({ summary }) => summary).sort(),
  )
  await attempt("delete", () => deleteSession(sessionId, { dir }))
  await attempt("info", () => getSessionInfo(sessionId, { dir }))
  await attempt("list", async () => (await listSessions({ dir, includeProgrammatic: true })).length)
}
