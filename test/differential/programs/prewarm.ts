import { prewarm, type SpareProcess } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }
export const modelUnobserved = true

/** A process that is started before its session is known, and what can go wrong when it becomes one. */
export async function run(): Promise<void> {
  const { claude: pathToClaudeCodeExecutable, cwd } = context()
  const start = () => prewarm({ options: { pathToClaudeCodeExecutable } })
  const parked = ({ claimed }: SpareProcess) =>
    attempt("claimed", async () => {
      const { parkedMs, ...session } = await claimed
      return { ...session, waited: typeof parkedMs }
    })
  const plain = await start()
  const query = plain.claim({ prompt: "hello", options: { cwd, permissionMode: "plan", title: "T" } })
  await attempt("a second time", () => plain.claim({ prompt: "hello", options: { cwd } }))
  await attempt("where it is", async () => Object.keys(await query.initializationResult()).sort())
  await watch(query)
  await parked(plain)
  await plain.exited
  const claims = {
    "settings and model": { cwd, settings: { effortLevel: "high" as const }, model: "claude-sonnet-4-5" },
    nowhere: { cwd: "/nowhere/at/all" },
    "a mode it cannot take": { cwd, permissionMode: "bypassPermissions" as const },
    "a variable it cannot take": { cwd, env: { OTHER: "1" } },
  }
  for (const [what, options] of Object.entries(claims)) {
    observe("claim", what)
    const spare = await start()
    await watch(spare.claim({ prompt: "hello", options }))
    await parked(spare)
    await spare.exited
  }
  const closed = await start()
  closed.close()
  await parked(closed)
  await closed.exited
  await attempt("after the end", () => closed.claim({ prompt: "hello", options: { cwd } }))
  await attempt("not there", () => prewarm({ options: { ...basics(), pathToClaudeCodeExecutable: "/nowhere/claude" } }))
}
