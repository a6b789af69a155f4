import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import {
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, context } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const id = (n: number) => `d1ff0000-0000-4000-8000-00000000000${n}`
const [bare, told, linked] = [id(1), id(2), id(3)]
const line = {
  type: "user",
  uuid: id(9),
  parentUuid: null,
  sessionId: told,
  cwd: "/w",
  message: { role: "user", content: "hi" },
}

/** Transcripts that do not say where they were at work, and one that is a link. */
export async function run(): Promise<void> {
  const { home, cwd: dir } = context()
  const folder = `${home}/.claude/projects/${dir.replaceAll(/[^a-zA-Z0-9]/g, "-")}`
  mkdirSync(folder, { recursive: true })
  symlinkSync(dir, `${home}/project`)
  writeFileSync(`${folder}/${bare}.jsonl`, `${JSON.stringify({ type: "custom-title", customTitle: "T" })}\n`)
  writeFileSync(`${folder}/${told}.jsonl`, `${JSON.stringify(line)}\n`)
  for (const [at, name] of [bare, told].entries())
    utimesSync(`${folder}/${name}.jsonl`, 1_700_000_000, 1_700_000_000 + at)
  symlinkSync(`${folder}/${told}.jsonl`, `${folder}/${linked}.jsonl`)
  for (const where of [dir, `${dir}/`, `${home}/project`, undefined]) {
    const options = where === undefined ? {} : { dir: where }
    await attempt("list", async () => (await listSessions(options)).map(({ sessionId, cwd }) => ({ sessionId, cwd })))
    await attempt("info", async () => (await getSessionInfo(bare, options))?.cwd)
  }
  await attempt("from the middle of one", async () => (await listSessions({ dir, offset: 0.5, limit: 0.5 })).length)
  await attempt("info of a link", () => getSessionInfo(linked, { dir }))
  await attempt("messages of a link", () => getSessionMessages(linked, { dir }))
  await attempt("fork of a link", async () => {
    const { sessionId } = await forkSession(linked, { dir, upToMessageId: "" })
    return (await getSessionMessages(sessionId, { dir })).length
  })
  for (const tag of ["half \ud800 of one", "\udc00end", "zero\u200bwidth"]) {
    await tagSession(told, tag, { dir })
    await attempt("tag", async () => (await getSessionInfo(told, { dir }))?.tag)
  }
}
