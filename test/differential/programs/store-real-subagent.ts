import {
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  listSessions,
  listSubagents,
  query,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, observe } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      on: "count",
      steps: [
        {
          tool: "Task",
          input: { subagent_type: "counter", description: "c", prompt: "Count them.", run_in_background: false },
        },
        { say: "There are none." },
      ],
    },
    { on: "again", steps: [{ say: "Still none." }] },
  ],
  side: { agent: "I counted none." },
}

const sessionId = "d1ff0000-0000-4000-8000-0000000000d1"

/** A session with a subagent is read out of the store, and goes on from there though its files are elsewhere. */
export async function run(): Promise<void> {
  const sessionStore = new InMemorySessionStore()
  const agents = { counter: { description: "Counts", prompt: "You count." } }
  const options = { ...basics(), agents, sessionStore }
  for await (const message of query({ prompt: "count", options: { ...options, sessionId } }))
    if (message.type === "result") observe("result", message.subtype)
  const dir = context().cwd
  const place = { dir, sessionStore }
  await attempt("list", () => listSessions(place))
  await attempt("info", () => getSessionInfo(sessionId, place))
  await attempt("messages", () => getSessionMessages(sessionId, place))
  const found = await listSubagents(sessionId, place)
  observe("subagents", found.length)
  await attempt("of the subagent", () => getSubagentMessages(sessionId, found[0] ?? "", place))
  for await (const message of query({ prompt: "again", options: { ...options, resume: sessionId } }))
    if (message.type === "result") observe("result", message.subtype)
  await attempt("all messages", async () => (await getSessionMessages(sessionId, place)).map(({ message }) => message))
}
