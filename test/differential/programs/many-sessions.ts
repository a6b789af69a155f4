import { getSessionInfo, getSessionMessages, listSessions, query, renameSession } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context } from "../program-context.ts"

export const scenario = { turns: Array.from({ length: 3 }, () => ({ steps: [{ say: "Hello." }] })) }

const ids = [1, 2, 3].map((n) => `d1ff0000-0000-4000-8000-00000000000${n}`)

/** Several sessions of the real CLI in one folder: their order, pages of them, and names. */
export async function run(): Promise<void> {
  for (const [at, sessionId] of ids.entries())
    for await (const _ of query({ prompt: `question ${at}`, options: { ...basics(), sessionId } }));
  const dir = context().cwd
  const told = async (options: Parameters<typeof listSessions>[0]) =>
    (await listSessions(options)).map(({ sessionId, summary, customTitle }) => ({ sessionId, summary, customTitle }))
  await attempt("all", () => told({ dir }))
  await attempt("one", () => told({ dir, limit: 1 }))
  await attempt("the rest", () => told({ dir, offset: 1 }))
  await attempt("past the end", () => told({ dir, offset: 5, limit: 1 }))
  await attempt("no limit", () => told({ dir, limit: 0, offset: -1 }))
  await attempt("of people", () => told({ dir, includeProgrammatic: false }))
  await renameSession(ids[0] ?? "", "The oldest", { dir })
  await attempt("after a name", () => told({ dir }))
  await attempt("anywhere", () => told(undefined))
  await attempt("elsewhere", () => told({ dir: context().home }))
  await attempt("info anywhere", async () => (await getSessionInfo(ids[1] ?? ""))?.summary)
  await attempt("system messages", async () =>
    (await getSessionMessages(ids[0] ?? "", { dir, includeSystemMessages: true })).map(({ type }) => type),
  )
}
