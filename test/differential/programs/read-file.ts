import { writeFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

export async function run(): Promise<void> {
  writeFileSync(`${context().cwd}/note.txt`, "some words")
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: basics() })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    await attempt("readFile", () => running.readFile("note.txt"))
    await attempt("readFile, four bytes", () => running.readFile("note.txt", { maxBytes: 4 }))
    await attempt("readFile of none", () => running.readFile("absent.txt"))
    await attempt("seedReadState", () => running.seedReadState("note.txt", 1))
    prompts.end()
  })
}
