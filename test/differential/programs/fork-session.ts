import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "name is", steps: [{ say: "Hello Ada." }] },
    { on: "What", steps: [{ say: "Ada." }] },
  ],
}

export async function run(): Promise<void> {
  const sessions: string[] = []
  const note = (message: { type: string; session_id?: string }) => {
    if (message.type === "result") sessions.push(message.session_id ?? "")
  }
  await watch(query({ prompt: "My name is Ada.", options: basics() }), note)
  const resume = sessions[0] ?? ""
  await watch(query({ prompt: "What is my name?", options: { ...basics(), resume, forkSession: true } }), note)
  observe("sessions", { different: sessions[0] !== sessions[1], count: sessions.length })
}
