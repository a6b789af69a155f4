import { textOf } from "@signalbox/protocol"
import type { ModelRequest } from "../model/model.ts"
import type { Fields, UsageNumbers } from "../profiles/profile.ts"
import { CACHE_CREATION, SERVER_TOOLS, tokenFields } from "../profiles/shared.ts"
import type { ToolOutcome, ToolRun } from "../tools/tool.ts"
import { Speech, type Spoken } from "./speech.ts"
import { type TaskEnd, taskId } from "./tasks.ts"
import { callTool, toolUsesOf } from "./tool-call.ts"

interface AgentRun {
  readonly id: string
  readonly type: string
  readonly prompt: string
  readonly description: string
  readonly run: ToolRun
}

interface AgentEnd {
  readonly text: string
  readonly tokens: number
  readonly toolUses: number
  readonly toolNames: readonly string[]
  readonly durationMs: number
  readonly usage: Fields
}

const MAX_AGENT_CALLS = 1000

/** A sub-agent: in the foreground on older generations, beside the turn on the newest. */
export async function runSubagent(run: ToolRun): Promise<ToolOutcome> {
  const { core, input } = run
  core.state.subagents++
  const agent: AgentRun = {
    id: taskId(core, "a"),
    type: textOf(input, "subagent_type") ?? "general-purpose",
    prompt: textOf(input, "prompt") ?? "",
    description: textOf(input, "description") ?? "",
    run,
  }
  return core.profile.generation === 325 ? runBeside(agent) : runInFront(agent)
}

async function runInFront(agent: AgentRun): Promise<ToolOutcome> {
  const { core, toolUseId, signal } = agent.run
  const tells = core.profile.quirks.taskMessages
  await tellStart(agent)
  if (tells) {
    const fields = { task_id: agent.id, tool_use_id: toolUseId, description: agent.description }
    core.wire.system("task_started", { ...fields, task_type: "local_agent", prompt: agent.prompt }, "uuid")
  }
  core.wire.user({ role: "user", content: [{ type: "text", text: agent.prompt }] }, {}, toolUseId)
  const end = await converse(agent, signal)
  await tellStop(agent, end)
  const content = [{ type: "text", text: end.text }]
  const usage = { total_tokens: end.tokens, tool_uses: end.toolUses, duration_ms: end.durationMs }
  const before = () => {
    if (!tells) return
    const status = { status: "completed", output_file: "", summary: agent.description, usage }
    core.wire.system("task_notification", { task_id: agent.id, tool_use_id: toolUseId, ...status }, "uuid")
  }
  const told = [...content, { type: "text", text: footer(agent, usage) }]
  return { content: told, structured: report(agent, end, content), before }
}

function footer(
  { id, run }: AgentRun,
  usage: { total_tokens: number; tool_uses: number; duration_ms: number },
): string {
  const again =
    run.core.profile.generation === 37
      ? "(for resuming to continue this agent's work if needed)"
      : `(use SendMessage with to: '${id}' to continue this agent)`
  const { total_tokens, tool_uses, duration_ms } = usage
  const numbers = `total_tokens: ${total_tokens}\ntool_uses: ${tool_uses}\nduration_ms: ${duration_ms}`
  return `agentId: ${id} ${again}\n<usage>${numbers}</usage>`
}

function report(agent: AgentRun, end: AgentEnd, content: unknown): Fields {
  const type = agent.run.core.profile.generation === 37 ? {} : { agentType: agent.type }
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
    ...(agent.run.core.profile.generation === 120 && end.toolNames.length > 0
      ? { toolStats: statsOf(end.toolNames) }
      : {}),
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

async function runBeside(agent: AgentRun): Promise<ToolOutcome> {
  const { core, toolUseId } = agent.run
  let release: () => void = () => undefined
  const launched = new Promise<void>((resolve) => {
    release = resolve
  })
  const start = { toolUseId, description: agent.description, agent }
  const task = core.tasks.begin(core, agent.id, start, async (signal): Promise<TaskEnd> => {
    // Its first word comes after the result that says it was started.
    await launched
    const end = await converse(agent, signal)
    await tellStop(agent, end)
    const usage = { total_tokens: end.tokens, tool_uses: end.toolUses, duration_ms: end.durationMs }
    return { status: "completed", output: end.text, summary: end.text, usage }
  })
  await tellStart(agent)
  const text = `Async agent launched successfully.\nagentId: ${agent.id}\noutput_file: ${task.outputFile}`
  return {
    content: [{ type: "text", text }],
    structured: {
      isAsync: true,
      status: "async_launched",
      agentId: agent.id,
      description: agent.description,
      resolvedModel: core.state.model,
      prompt: agent.prompt,
      outputFile: task.outputFile,
      canReadOutputFile: true,
      canContinueAgent: true,
    },
    after: async () => {
      release()
      await task.ended
    },
  }
}

/** The sub-agent's own conversation: it speaks, calls tools, and its last words are its result. */
async function converse(agent: AgentRun, signal: AbortSignal): Promise<AgentEnd> {
  const { core, toolUseId } = agent.run
  const startedAt = core.clock.now()
  const messages: Fields[] = [{ role: "user", content: [{ type: "text", text: agent.prompt }] }]
  let [text, tokens, toolUses] = ["", 0, 0]
  const toolNames: string[] = []
  let usage: Fields = {}
  for (let calls = 0; calls < MAX_AGENT_CALLS && !signal.aborted; calls++) {
    const progress = { tokens, toolUses, startedAt }
    const spoken = await speak(agent, messages, calls === 0 ? "said" : "results", signal, progress)
    text = lastText(spoken) ?? text
    if (spoken.usage !== undefined) {
      core.ledger.record(spoken.model, spoken.usage, { isMain: false })
      tokens = spoken.usage.input + spoken.usage.output
      usage = usageFields(core.profile.generation, spoken.usage)
    }
    const uses = toolUsesOf(spoken)
    if (uses.length === 0 || spoken.failure !== undefined) break
    toolUses += uses.length
    toolNames.push(...uses.map(({ name }) => name))
    messages.push({ role: "assistant", content: spoken.content })
    const scope = { signal, parent: toolUseId, agentId: agent.id, extra: messageExtra(agent), denials: [] }
    const results: Fields[] = []
    for (const use of uses) results.push((await callTool(core, scope, use)).block)
    messages.push({ role: "user", content: results })
  }
  return { text, tokens, toolUses, toolNames, usage, durationMs: Math.max(1, core.clock.now() - startedAt) }
}

function usageFields(generation: 37 | 120 | 325, usage: UsageNumbers): Fields {
  const base = { ...tokenFields(usage), ...SERVER_TOOLS, service_tier: "standard", ...CACHE_CREATION }
  return generation === 37 ? base : { ...base, inference_geo: "", iterations: [], speed: "standard" }
}

function speak(
  agent: AgentRun,
  messages: readonly Fields[],
  why: ModelRequest["why"],
  signal: AbortSignal,
  progress: Progress,
): Promise<Spoken> {
  const { core, toolUseId } = agent.run
  const request: ModelRequest = {
    why,
    text: why === "said" ? agent.prompt : "",
    model: core.state.model,
    sessionId: core.wire.sessionId,
    messages,
    tools: core.profile.catalog.tools,
    agent: { id: agent.id, prompt: agent.prompt, toolUseId },
  }
  const actions = core.model.call(request, signal)
  const isNewest = core.profile.generation === 325
  const speech = new Speech(core, {
    signal,
    parent: toolUseId,
    extra: messageExtra(agent),
    isMain: false,
    // Older generations pass on a sub-agent's tool calls, and keep its words for the result.
    onlyToolUses: !isNewest,
    onAside: async () => undefined,
    onToolUse: (use) => tellProgress(agent, use, progress),
    userUuids: [],
  })
  return speech.listen(actions)
}

interface Progress {
  readonly tokens: number
  readonly toolUses: number
  readonly startedAt: number
}

/** What the sub-agent is about to do, on generations that tell. */
function tellProgress(agent: AgentRun, use: Readonly<Fields>, { tokens, toolUses, startedAt }: Progress): void {
  const { core, toolUseId } = agent.run
  if (!core.profile.quirks.taskMessages) return
  const name = textOf(use, "name") ?? ""
  const command = textOf(use["input"], "command")
  const usage = { total_tokens: tokens, tool_uses: toolUses + 1, duration_ms: core.clock.now() - startedAt }
  const description = command === undefined ? `Using ${name}` : `Running ${command}`
  const fields = { task_id: agent.id, tool_use_id: toolUseId, description, usage, last_tool_name: name }
  core.wire.system("task_progress", fields, "uuid")
}

function messageExtra({ id, type, description, run }: AgentRun): Fields {
  if (run.core.profile.generation !== 325) return {}
  return { agent_id: id, subagent_type: type, task_description: description }
}

function lastText({ content }: Spoken): string | undefined {
  return textOf(
    content.findLast((block) => block["type"] === "text"),
    "text",
  )
}

async function tellStart({ id, type, run }: AgentRun): Promise<void> {
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

async function tellStop({ id, type, run }: AgentRun, end: AgentEnd): Promise<void> {
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
