import { defined } from "@signalbox/protocol/envelope"
import { deferred } from "@signalbox/transport/pacing"
import { remember } from "../json.ts"
import type { Fields } from "../profiles/profile.ts"
import { dashed } from "../profiles/shared.ts"
import type { QueuedMessage } from "../wire/message-queue.ts"
import type { AgentBasics } from "../wire/wire.ts"

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
  readonly #agent: AgentBasics
  readonly #onNotice: (message: QueuedMessage) => void

  constructor(agent: AgentBasics, onNotice: (message: QueuedMessage) => void) {
    this.#agent = agent
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

  /** The id of the task's run. */
  runOf(id: string): string | undefined {
    return this.#running.get(id)?.runId
  }

  /** The tasks as hooks are told of them. */
  list(): Fields[] {
    return [...this.#running.values()].map(({ id, start }) =>
      defined({
        id,
        type: start.agent === undefined ? "shell" : "subagent",
        status: "running",
        description: start.description,
        agent_type: start.agent?.type,
      }),
    )
  }

  begin(id: string, start: TaskStart, run: (signal: AbortSignal) => Promise<TaskEnd>): Task {
    const stopping = new AbortController()
    const launched = deferred<void>()
    const task: Task = {
      ...this.#newTask(id, start),
      stop: () => stopping.abort(),
      ended: launched.promise.then(() => this.#run(task, run, stopping.signal)),
    }
    this.#running.set(id, task)
    this.tellAll()
    this.#tellStart(task)
    launched.resolve()
    return task
  }

  /** A sub-agent that the turn waits for: told as a task, and never one that runs beside it. */
  inFront(id: string, start: TaskStart): Task {
    const task = { ...this.#newTask(id, start), ended: Promise.resolve(), stop: () => undefined }
    this.#tellStart(task, false)
    return task
  }

  endInFront(task: Task, end: TaskEnd): void {
    this.#tellEnd(task, end, end.summary ?? "")
  }

  #newTask(id: string, start: TaskStart): Omit<Task, "ended" | "stop"> {
    const runId = `0${this.#agent.clock.now().toString(36)}-${this.#agent.random.hex(8)}`
    return { id, runId, outputFile: outputFile(this.#agent, id), start, output: "" }
  }

  async #run(task: Task, run: (signal: AbortSignal) => Promise<TaskEnd>, signal: AbortSignal): Promise<void> {
    const end = await run(signal)
    this.#end(task, signal.aborted ? { ...end, status: "stopped" } : end)
  }

  #end(task: Task, end: TaskEnd): void {
    this.#running.delete(task.id)
    remember(this.#outputs, task.id, end.output, MAX_REMEMBERED)
    if (!this.#agent.profile.quirks.taskMessages) return
    // A task that was stopped on purpose starts no turn with its end.
    const isStopped = end.status === "stopped" && this.#agent.profile.quirks.stoppedTasksAreQuiet
    const summary = isStopped
      ? task.start.description
      : (end.summary ?? `Background command "${task.start.description}" ${end.status}`)
    this.#tellEnd(task, end, summary)
    this.tellAll()
    if (!isStopped) this.#onNotice(noticeMessage(task, end.status, summary))
  }

  #tellEnd(task: Task, end: TaskEnd, summary: string): void {
    const run = this.#agent.profile.quirks.tellsRuns ? { run_id: task.runId } : {}
    const patch = { status: end.status === "stopped" ? "killed" : end.status, end_time: this.#agent.clock.now() }
    this.#agent.wire.system("task_updated", { task_id: task.id, ...run, patch }, "uuid")
    const notice = defined({
      task_id: task.id,
      ...run,
      tool_use_id: task.start.toolUseId,
      status: end.status,
      output_file: task.outputFile,
      summary,
      usage: end.usage,
    })
    this.#agent.wire.system("task_notification", notice, this.#agent.profile.quirks.taskNoticeIds)
  }

  #tellStart(task: Task, isBeside = true): void {
    if (!this.#agent.profile.quirks.taskMessages) return
    const { agent, toolUseId, description } = task.start
    const { tellsRuns } = this.#agent.profile.quirks
    const fields = defined({
      task_id: task.id,
      run_id: tellsRuns ? task.runId : undefined,
      tool_use_id: toolUseId,
      description,
      subagent_type: tellsRuns ? agent?.type : undefined,
      is_backgrounded: tellsRuns ? isBeside : undefined,
      spawn_depth: tellsRuns && agent !== undefined ? 1 : undefined,
      task_type: agent === undefined ? "local_bash" : "local_agent",
      prompt: agent?.prompt,
    })
    this.#agent.wire.system("task_started", fields, "uuid")
  }

  /** Tells what runs now, as the newest generation does whenever that changes. */
  tellAll(): void {
    if (!this.#agent.profile.quirks.tellsAllTasks) return
    const tasks = [...this.#running.values()].map(({ id, runId, start }) =>
      defined({
        task_id: id,
        run_id: runId,
        task_type: start.agent === undefined ? "local_bash" : "local_agent",
        subagent_type: start.agent?.type,
        description: start.description,
      }),
    )
    this.#agent.wire.system("background_tasks_changed", { tasks }, "uuid")
  }
}

export function taskId(agent: Pick<AgentBasics, "profile" | "random">, kind: "a" | "b"): string {
  if (agent.profile.quirks.shortTaskIds) return `${kind}${agent.random.hex(6)}`
  return kind === "a" ? `a${agent.random.hex(16)}` : `b${agent.random.base36(8)}`
}

function outputFile(agent: AgentBasics, id: string): string {
  const user = process.getuid?.() ?? 0
  const folder = `/tmp/claude-${user}/${dashed(agent.launch.cwd)}`
  return `${folder}/${agent.profile.quirks.tasksBySession ? `${agent.wire.sessionId}/` : ""}tasks/${id}.output`
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
