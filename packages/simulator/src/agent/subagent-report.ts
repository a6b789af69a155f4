import type { Fields } from "../profiles/profile.ts"
import type { ToolRun } from "../tools/toolbox.ts"
import type { AgentCore } from "./core.ts"

export interface AgentRun {
  readonly core: AgentCore
  readonly id: string
  readonly type: string
  readonly prompt: string
  readonly description: string
  readonly run: ToolRun
}

export interface AgentEnd {
  readonly text: string
  readonly tokens: number
  readonly toolUses: number
  readonly toolNames: readonly string[]
  readonly durationMs: number
  readonly usage: Fields
}

export function footer(
  { core, id }: AgentRun,
  usage: { total_tokens: number; tool_uses: number; duration_ms: number },
): string {
  const again = core.profile.quirks.agentsContinue
    ? `(use SendMessage with to: '${id}' to continue this agent)`
    : "(for resuming to continue this agent's work if needed)"
  const { total_tokens, tool_uses, duration_ms } = usage
  const numbers = `total_tokens: ${total_tokens}\ntool_uses: ${tool_uses}\nduration_ms: ${duration_ms}`
  return `agentId: ${id} ${again}\n<usage>${numbers}</usage>`
}

export function report(agent: AgentRun, end: AgentEnd, content: unknown): Fields {
  const { quirks } = agent.core.profile
  const type = quirks.agentsContinue ? { agentType: agent.type } : {}
  return {
    status: "completed",
    prompt: agent.prompt,
    agentId: agent.id,
    ...type,
    content,
    totalDurationMs: end.durationMs,
    totalTokens: end.tokens,
    totalToolUseCount: end.toolUses,
    usage: end.usage,
    ...(quirks.agentToolStats && end.toolNames.length > 0 ? { toolStats: statsOf(end.toolNames) } : {}),
  }
}

function statsOf(names: readonly string[]): Fields {
  const count = (...wanted: string[]) => names.filter((name) => wanted.includes(name)).length
  const known = {
    reads: count("Read"),
    searches: count("Glob", "Grep"),
    bashes: count("Bash"),
    edits: count("Edit", "Write"),
  }
  return {
    readCount: known.reads,
    searchCount: known.searches,
    bashCount: known.bashes,
    editFileCount: known.edits,
    linesAdded: 0,
    linesRemoved: 0,
    otherToolCount: names.length - known.reads - known.searches - known.bashes - known.edits,
  }
}

// What hooks are told of a sub-agent.

export async function tellStart({ core, id, type, run: { signal } }: AgentRun): Promise<void> {
  const { hooksSeeAgents } = core.profile.quirks
  const agent = { agent_id: id, agent_type: type }
  await core.hooks.run(core, {
    event: "SubagentStart",
    subject: type,
    input: hooksSeeAgents ? {} : agent,
    base: { omitMode: true, omitEffort: true, ...(hooksSeeAgents ? { agent } : {}) },
    signal,
  })
}

export async function tellStop({ core, id, type }: AgentRun, end: AgentEnd): Promise<void> {
  const { hooksSeeAgents, hooksSeeTasks } = core.profile.quirks
  const agent_transcript_path = `${core.transcript.path.replace(/\.jsonl$/, "")}/subagents/agent-${id}.jsonl`
  const input: Fields = hooksSeeAgents
    ? { stop_hook_active: false, agent_transcript_path, last_assistant_message: end.text }
    : { stop_hook_active: false, agent_id: id, agent_transcript_path, agent_type: type }
  const running = hooksSeeTasks ? { background_tasks: core.tasks.list(), session_crons: [] } : {}
  const base = !hooksSeeAgents ? {} : { agent: { agent_id: id, agent_type: type } }
  await core.hooks.run(core, { event: "SubagentStop", subject: type, input: { ...input, ...running }, base })
}
