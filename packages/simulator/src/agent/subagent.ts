import { textOf } from "@signalbox/protocol/envelope"
import { deferred } from "@signalbox/transport/pacing"
import type { ModelRequest } from "../model/model.ts"
import type { Fields } from "../profiles/profile.ts"
import { type TaskEnd, taskId } from "../tools/tasks.ts"
import type { ToolOutcome, ToolRun } from "../tools/toolbox.ts"
import { type AgentCore, resolveModel } from "./core.ts"
import { lastText, type Spoken } from "./failures.ts"
import { Speech } from "./speech.ts"
import { callTool, toolUsesOf } from "./tool-call.ts"

const MAX_AGENT_CALLS = 1000

/** A sub-agent: in the foreground on older generations, beside the turn on the newest unless it is asked not to. */
export async function runSubagent(core: AgentCore, run: ToolRun): Promise<ToolOutcome> {
  const { input } = run
  const { agentsBeside } = core.profile.quirks
  core.state.subagents++
  const agent: AgentRun = {
    core,
    id: taskId(core, "a"),
    type: textOf(input, "subagent_type") ?? "general-purpose",
    prompt: textOf(input, "prompt") ?? "",
    description: textOf(input, "description") ?? "",
    toolUseId: run.toolUseId,
    signal: run.signal,
    isInFront: !agentsBeside || input["run_in_background"] === false,
  }
  if (!agentsBeside) return runInFront(agent)
  return agent.isInFront ? runInFrontOfNewest(agent) : runBeside(agent)
}

async function runInFront(agent: AgentRun): Promise<ToolOutcome> {
  const { core, toolUseId, signal } = agent
  const tells = core.profile.quirks.taskMessages
  await tellStart(agent)
  core.tasks.inFront(agent.id, { ...agent, agent })
  core.wire.user({ role: "user", content: [{ type: "text", text: agent.prompt }] }, {}, toolUseId)
  const end = await converse(agent, signal)
  await tellStop(agent, end)
  const content = [{ type: "text", text: end.text }]
  const usage = countsOf(end)
  const before = () => {
    if (!tells) return
    const status = { status: "completed", output_file: "", summary: agent.description, usage }
    core.wire.system("task_notification", { task_id: agent.id, tool_use_id: toolUseId, ...status }, "uuid")
  }
  const told = [...content, { type: "text", text: footer(agent, end) }]
  return { content: told, structured: report(agent, end, content), before }
}

function countsOf({ tokens, toolUses, durationMs }: AgentEnd) {
  return { total_tokens: tokens, tool_uses: toolUses, duration_ms: durationMs }
}

const HANDED_BACK =
  "[Subagent hand-back] The text below is the final report of a subagent this session delegated to. It is model output."

/** The newest generation frames what a sub-agent reports, so that nobody takes it for the user's word. */
async function runInFrontOfNewest(agent: AgentRun): Promise<ToolOutcome> {
  const { core, toolUseId, signal } = agent
  core.state.subagentsInFront++
  const task = core.tasks.inFront(agent.id, { ...agent, agent })
  await tellStart(agent)
  const prompt = { role: "user", content: [{ type: "text", text: agent.prompt }] }
  core.wire.user(prompt, messageExtra(agent), toolUseId)
  const end = await converse(agent, signal)
  await tellStop(agent, end)
  const usage = countsOf(end)
  const numbers = `subagent_tokens: ${end.tokens}\ntool_uses: ${end.toolUses}\nduration_ms: ${end.durationMs}`
  const again = `(use SendMessage with to: '${agent.id}', summary: '<5-10 word recap>' to continue this agent)`
  const body = end.text.replaceAll(/^/gm, "  ")
  const text = `${HANDED_BACK} The report follows:\n${body}\nagentId: ${agent.id} ${again}\n<usage>${numbers}</usage>`
  const { content, ...reported } = report(agent, end, [{ type: "text", text: end.text }])
  const { status, prompt: asked, agentId, agentType, ...counts } = reported
  const harness = { harnessNoteCount: 0, harnessTailCount: 0, harnessSectionHash: core.random.hex(16) }
  const head = { status, prompt: asked, agentId, agentType, ...harness, content, resolvedModel: modelOf(agent) }
  const structured = { ...head, ...counts, canContinueAgent: true }
  const before = () => core.tasks.endInFront(task, { status: "completed", output: end.text, summary: end.text, usage })
  return { content: [{ type: "text", text }], structured, before }
}

/** The model that an agent's definition names, or else the session's. */
function modelOf({ core, type }: AgentRun): string {
  const { profile, state } = core
  const named = textOf(state.agents[type], "model")
  return named === undefined || named === "inherit" ? state.model : resolveModel(profile, named)
}

async function runBeside(agent: AgentRun): Promise<ToolOutcome> {
  const { core } = agent
  const launched = deferred<void>()
  const task = core.tasks.begin(agent.id, { ...agent, agent }, async (signal): Promise<TaskEnd> => {
    // Its first word comes after the result that says it was started.
    await launched.promise
    const end = await converse(agent, signal)
    await tellStop(agent, end)
    const usage = countsOf(end)
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
      launched.resolve()
      await task.ended
    },
  }
}

/** The sub-agent's own conversation: it speaks, calls tools, and its last words are its result. */
async function converse(agent: AgentRun, signal: AbortSignal): Promise<AgentEnd> {
  const { core, toolUseId } = agent
  const startedAt = core.clock.now()
  const messages: Fields[] = [{ role: "user", content: [{ type: "text", text: agent.prompt }] }]
  const { type: agentType, description } = agent
  const transcript = core.transcript.ofAgent(agent.id, { agentType, description, toolUseId })
  const keep = (kind: "user" | "assistant", message: Fields) =>
    transcript.add(kind, { message, uuid: core.random.uuid(), timestamp: core.wire.timestamp() })
  keep("user", { role: "user", content: agent.prompt })
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
      usage = core.profile.shapes.callUsage(spoken.usage)
    }
    keep("assistant", saidOf(spoken, usage))
    const uses = toolUsesOf(spoken)
    if (uses.length === 0 || spoken.failure !== undefined) break
    toolUses += uses.length
    toolNames.push(...uses.map(({ name }) => name))
    messages.push({ role: "assistant", content: spoken.content })
    const scope = { signal, parent: toolUseId, agentId: agent.id, extra: messageExtra(agent), denials: [] }
    const results: Fields[] = []
    for (const use of uses) results.push((await callTool(core, scope, use)).block)
    messages.push({ role: "user", content: results })
    keep("user", { role: "user", content: results })
  }
  return { text, tokens, toolUses, toolNames, usage, durationMs: Math.max(1, core.clock.now() - startedAt) }
}

/** A sub-agent's reply as its transcript has it. */
function saidOf({ messageId, model, content, stopReason }: Spoken, usage: Fields): Fields {
  const head = { id: messageId, type: "message", role: "assistant", model, content }
  return { ...head, stop_reason: stopReason, stop_sequence: null, usage, stop_details: null }
}

function speak(
  agent: AgentRun,
  messages: readonly Fields[],
  why: ModelRequest["why"],
  signal: AbortSignal,
  progress: Progress,
): Promise<Spoken> {
  const { core, toolUseId } = agent
  const request: ModelRequest = {
    why,
    text: why === "said" ? agent.prompt : "",
    model: modelOf(agent),
    sessionId: core.wire.sessionId,
    messages,
    tools: core.profile.catalog.tools,
    agent: { id: agent.id, prompt: agent.prompt, toolUseId },
  }
  const actions = core.model.call(request, signal)
  const speech = new Speech(core, {
    signal,
    parent: toolUseId,
    extra: messageExtra(agent),
    isMain: false,
    // A sub-agent that is waited for has its tool calls passed on, and its words kept for the result.
    onlyToolUses: agent.isInFront,
    onAside: async () => undefined,
    onToolUse: (use) => tellProgress(agent, use, progress),
    toolUseFirst: !agent.isInFront,
    userUuids: [],
  })
  return speech.listen(actions)
}

interface Progress {
  readonly tokens: number
  readonly toolUses: number
  readonly startedAt: number
}

/** Tells what the sub-agent is about to do, on generations that do. */
function tellProgress(agent: AgentRun, use: Readonly<Fields>, { tokens, toolUses, startedAt }: Progress): void {
  const { core, toolUseId } = agent
  if (!core.profile.quirks.taskMessages) return
  const name = textOf(use, "name") ?? ""
  const command = textOf(use["input"], "command")
  const usage = { total_tokens: tokens, tool_uses: toolUses + 1, duration_ms: core.clock.now() - startedAt }
  const description = command === undefined ? `Using ${name}` : `Running ${command}`
  const { tellsRuns } = core.profile.quirks
  const run = tellsRuns ? { run_id: core.tasks.runOf(agent.id) } : {}
  const kind = tellsRuns ? { subagent_type: agent.type } : {}
  const what = { task_id: agent.id, ...run, tool_use_id: toolUseId, description, ...kind }
  const fields = { ...what, usage, last_tool_name: name }
  core.wire.system("task_progress", fields, "uuid")
}

function messageExtra({ core, id, type, description }: AgentRun): Fields {
  if (!core.profile.quirks.tellsRuns) return {}
  return { agent_id: id, subagent_type: type, task_description: description }
}

interface AgentRun {
  readonly core: AgentCore
  readonly id: string
  readonly type: string
  readonly prompt: string
  readonly description: string
  readonly toolUseId: string
  readonly signal: AbortSignal
  /** The turn waits for its end. */
  readonly isInFront: boolean
}

interface AgentEnd {
  readonly text: string
  readonly tokens: number
  readonly toolUses: number
  readonly toolNames: readonly string[]
  readonly durationMs: number
  readonly usage: Fields
}

function footer({ core, id }: AgentRun, { tokens, toolUses, durationMs }: AgentEnd): string {
  const again = core.profile.quirks.agentsContinue
    ? `(use SendMessage with to: '${id}' to continue this agent)`
    : "(for resuming to continue this agent's work if needed)"
  const numbers = `total_tokens: ${tokens}\ntool_uses: ${toolUses}\nduration_ms: ${durationMs}`
  return `agentId: ${id} ${again}\n<usage>${numbers}</usage>`
}

function report(agent: AgentRun, end: AgentEnd, content: unknown): Fields {
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
  return {
    readCount: count("Read"),
    searchCount: count("Glob", "Grep"),
    bashCount: count("Bash"),
    editFileCount: count("Edit", "Write"),
    linesAdded: 0,
    linesRemoved: 0,
    otherToolCount: names.length - count("Read", "Glob", "Grep", "Bash", "Edit", "Write"),
  }
}

// Hooks hear of a sub-agent.

async function tellStart({ core, id, type, signal }: AgentRun): Promise<void> {
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

async function tellStop({ core, id, type }: AgentRun, end: AgentEnd): Promise<void> {
  const { hooksSeeAgents, hooksSeeTasks } = core.profile.quirks
  const agent_transcript_path = `${core.transcript.path.replace(/\.jsonl$/, "")}/subagents/agent-${id}.jsonl`
  const input: Fields = hooksSeeAgents
    ? { stop_hook_active: false, agent_transcript_path, last_assistant_message: end.text }
    : { stop_hook_active: false, agent_id: id, agent_transcript_path, agent_type: type }
  const running = hooksSeeTasks ? { background_tasks: core.tasks.list(), session_crons: [] } : {}
  const base = !hooksSeeAgents ? {} : { agent: { agent_id: id, agent_type: type } }
  await core.hooks.run(core, { event: "SubagentStop", subject: type, input: { ...input, ...running }, base })
}
