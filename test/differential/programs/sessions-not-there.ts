import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  renameSession,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, context } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

export async function run(): Promise<void> {
  const dir = context().cwd
  const unknown = "d1ff0000-0000-4000-8000-0000000000ff"
  await attempt("list", () => listSessions({ dir }))
  for (const id of [unknown, "no id at all"]) {
    await attempt("info", () => getSessionInfo(id, { dir }))
    await attempt("messages", () => getSessionMessages(id, { dir }))
    await attempt("rename", () => renameSession(id, "name", { dir }))
    await attempt("tag", () => tagSession(id, "tag", { dir }))
    await attempt("fork", () => forkSession(id, { dir }))
    await attempt("delete", () => deleteSession(id, { dir }))
  }
  await attempt("rename to nothing", () => renameSession(unknown, "", { dir }))
}
