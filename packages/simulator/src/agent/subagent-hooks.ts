import type { Fields } from "../profiles/profile.ts"
import type { AgentEnd, AgentRun } from "./subagent-report.ts"

// What hooks are told of a sub-agent.

export async function tellStart({ id, type, run }: AgentRun): Promise<void> {
  const { core, signal } = run
  const isOldest = core.profile.generation === 37
  const agent = { agent_id: id, agent_type: type }
  await core.hooks.run(core, {
    event: "SubagentStart",
    subject: type,
    input: isOldest ? agent : {},
    base: { omitMode: true, omitEffort: true, ...(isOldest ? {} : { agent }) },
    signal,
  })
}

export async function tellStop({ id, type, run }: AgentRun, end: AgentEnd): Promise<void> {
  const { core } = run
  const { generation } = core.profile
  const agent_transcript_path = `${core.transcript.path.replace(/\.jsonl$/, "")}/subagents/agent-${id}.jsonl`
  const input: Fields =
    generation === 37
      ? { stop_hook_active: false, agent_id: id, agent_transcript_path, agent_type: type }
      : { stop_hook_active: false, agent_transcript_path, last_assistant_message: end.text }
  const running = generation === 325 ? { background_tasks: core.tasks.list(), session_crons: [] } : {}
  const base = generation === 37 ? {} : { agent: { agent_id: id, agent_type: type } }
  await core.hooks.run(core, { event: "SubagentStop", subject: type, input: { ...input, ...running }, base })
}
