import type { Fields } from "../profiles/profile.ts"
import { dashed, present } from "../profiles/shared.ts"
import type { QueuedMessage } from "../wire/message-queue.ts"
import type { AgentCore } from "./core.ts"

export interface TaskEnd {
  readonly status: "completed" | "failed" | "stopped"
  readonly output: string
  readonly summary?: string
  readonly usage?: Fields
}

export interface TaskStart {
  readonly toolUseId: string
  readonly description: string
  readonly agent?: { readonly id: string; readonly type: string; readonly prompt: string }
}

export interface Task {
  readonly id: string
  readonly runId: string
  readonly outputFile: string
  readonly start: TaskStart
  readonly ended: Promise<void>
  readonly stop: () => void
  output: string
}

const MAX_REMEMBERED = 100

/** Work that goes on beside the turns, and starts one when it ends. */
export class Tasks {
  readonly #running = new Map<string, Task>()
  readonly #outputs = new Map<string, string>()
  readonly #onNotice: (message: QueuedMessage) => void

  constructor(onNotice: (message: QueuedMessage) => void) {
    this.#onNotice = onNotice
  }

  get isIdle(): boolean {
    return this.#running.size === 0
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  stop(id: string): boolean {
    const task = this.#running.get(id)
    task?.stop()
    return task !== undefined
  }

  stopAll(): void {
    for (const task of this.#running.values()) task.stop()
  }

  outputOf(id: string): string | undefined {
    return this.#running.get(id)?.output ?? this.#outputs.get(id)
  }

  /** As hooks are told of them. */
  /** Which run of it this is. */
  runOf(id: string): string | undefined {
    return this.#running.get(id)?.runId
  }

  list(): Fields[] {
    return [...this.#running.values()].map(({ id, start }) =>
      present({
        id,
        type: start.agent === undefined ? "shell" : "subagent",
        status: "running",
        description: start.description,
        agent_type: start.agent?.type,
      }),
    )
  }

  startCommand(core: AgentCore, start: TaskStart, run: (signal: AbortSignal) => Promise<TaskEnd>): Task {
    return this.begin(core, taskId(core, "b"), start, run)
  }

  begin(core: AgentCore, id: string, start: TaskStart, run: (signal: AbortSignal) => Promise<TaskEnd>): Task {
    const stopping = new AbortController()
    let launch: () => void = () => undefined
    const launched = new Promise<void>((resolve) => {
      launch = resolve
    })
    const task: Task = {
      ...this.#newTask(core, id, start),
      stop: () => stopping.abort(),
      ended: launched.then(() => this.#run(core, task, run, stopping.signal)),
    }
    this.#running.set(id, task)
    this.tellAll(core)
    this.#tellStart(core, task)
    launch()
    return task
  }

  /** A sub-agent that the turn waits for: told as a task, and never one that runs beside it. */
  inFront(core: AgentCore, id: string, start: TaskStart): Task {
    const task = { ...this.#newTask(core, id, start), ended: Promise.resolve(), stop: () => undefined }
    this.#tellStart(core, task, false)
    return task
  }

  endInFront(core: AgentCore, task: Task, end: TaskEnd): void {
    this.#tellEnd(core, task, end, end.summary ?? "")
  }

  #newTask(core: AgentCore, id: string, start: TaskStart): Omit<Task, "ended" | "stop"> {
    const runId = `0${core.clock.now().toString(36)}-${core.random.hex(8)}`
    return { id, runId, outputFile: outputFile(core, id), start, output: "" }
  }

  async #run(
    core: AgentCore,
    task: Task,
    run: (signal: AbortSignal) => Promise<TaskEnd>,
    signal: AbortSignal,
  ): Promise<void> {
    const end = await run(signal)
    this.#end(core, task, signal.aborted ? { ...end, status: "stopped" } : end)
  }

  #end(core: AgentCore, task: Task, end: TaskEnd): void {
    this.#running.delete(task.id)
    this.#remember(task.id, end.output)
    if (!core.profile.quirks.taskMessages) return
    // Who stops a task knows that it is over: nothing is started by its end.
    const isStopped = end.status === "stopped" && core.profile.generation === 325
    const summary = isStopped
      ? task.start.description
      : (end.summary ?? `Background command "${task.start.description}" ${end.status}`)
    this.#tellEnd(core, task, end, summary)
    this.tellAll(core)
    if (!isStopped) this.#onNotice(noticeMessage(task, end.status, summary))
  }

  #tellEnd(core: AgentCore, task: Task, end: TaskEnd, summary: string): void {
    const run = core.profile.generation === 325 ? { run_id: task.runId } : {}
    const patch = { status: end.status === "stopped" ? "killed" : end.status, end_time: core.clock.now() }
    core.wire.system("task_updated", { task_id: task.id, ...run, patch }, "uuid")
    const notice = present({
      task_id: task.id,
      ...run,
      tool_use_id: task.start.toolUseId,
      status: end.status,
      output_file: task.outputFile,
      summary,
      usage: end.usage,
    })
    core.wire.system("task_notification", notice, core.profile.generation === 325 ? "uuid" : "session_id")
  }

  #tellStart(core: AgentCore, task: Task, isBeside = true): void {
    if (!core.profile.quirks.taskMessages) return
    const { agent, toolUseId, description } = task.start
    const isNewest = core.profile.generation === 325
    const fields = present({
      task_id: task.id,
      run_id: isNewest ? task.runId : undefined,
      tool_use_id: toolUseId,
      description,
      subagent_type: isNewest ? agent?.type : undefined,
      is_backgrounded: isNewest ? isBeside : undefined,
      spawn_depth: isNewest && agent !== undefined ? 1 : undefined,
      task_type: agent === undefined ? "local_bash" : "local_agent",
      prompt: agent?.prompt,
    })
    core.wire.system("task_started", fields, "uuid")
  }

  /** What runs now; the newest generation tells it whenever it changes. */
  tellAll(core: AgentCore): void {
    if (core.profile.generation !== 325) return
    const tasks = [...this.#running.values()].map(({ id, runId, start }) =>
      present({
        task_id: id,
        run_id: runId,
        task_type: start.agent === undefined ? "local_bash" : "local_agent",
        subagent_type: start.agent?.type,
        description: start.description,
      }),
    )
    core.wire.system("background_tasks_changed", { tasks }, "uuid")
  }

  #remember(id: string, output: string): void {
    const [oldest] = this.#outputs.keys()
    if (this.#outputs.size >= MAX_REMEMBERED && oldest !== undefined) this.#outputs.delete(oldest)
    this.#outputs.set(id, output)
  }
}

export function taskId(core: AgentCore, kind: "a" | "b"): string {
  if (core.profile.generation === 37) return `${kind}${core.random.hex(6)}`
  return kind === "a" ? `a${core.random.hex(16)}` : `b${core.random.base36(8)}`
}

function outputFile(core: AgentCore, id: string): string {
  const user = process.getuid?.() ?? 0
  const folder = `/tmp/claude-${user}/${dashed(core.launch.cwd)}`
  return core.profile.generation === 37
    ? `${folder}/tasks/${id}.output`
    : `${folder}/${core.wire.sessionId}/tasks/${id}.output`
}

/** The end of a task speaks to the model in the user's place. */
function noticeMessage(task: Task, status: string, summary: string): QueuedMessage {
  const text = [
    "<task-notification>",
    `<task-id>${task.id}</task-id>`,
    `<tool-use-id>${task.start.toolUseId}</tool-use-id>`,
    `<output-file>${task.outputFile}</output-file>`,
    `<status>${status}</status>`,
    `<summary>${summary}</summary>`,
    "</task-notification>",
  ].join("\n")
  return {
    content: [{ type: "text", text }],
    sent: text,
    text,
    priority: "later",
    isQuery: true,
    origin: { kind: "task-notification", producer: "session-task", runId: task.runId },
  }
}
