import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import type { KeptSession, KeptTasks } from "../model/session-record.ts"

type Call = Readonly<Record<string, unknown>>

const MAX_TASKS = 100
const MAX_MAKING = 20
const TEXT_CHARS = 200
/** A message has a handful of them; one with more than this is not read further. */
const MAX_CALLS = 200
const NO_TASKS: KeptTasks = { list: {}, making: {} }
const TASK_TOOLS: ReadonlySet<unknown> = new Set(["TodoWrite", "TaskCreate", "TaskUpdate"])

interface Task {
  readonly text: string
  readonly status: string
}

/** The list while a message is read: copied once, however often the message changes it. */
interface Draft {
  readonly list: Map<string, Task>
  readonly making: Map<string, string>
}

/** Reads the list from the calls that write it. The same object when nothing in the message is about it. Sub-agents have lists of their own. */
export function foldTasks(session: KeptSession, message: Envelope): KeptSession {
  if (message["parent_tool_use_id"] != null) return session
  const content = fieldOf(message, "message")?.["content"]
  if (!Array.isArray(content)) return session
  const { list, making } = session.own.tasks ?? NO_TASKS
  const blocks = content.filter(isObject).filter((block) => isAboutTasks(block, message.type, making))
  if (blocks.length === 0) return session
  const draft: Draft = { list: new Map(Object.entries(list)), making: new Map(Object.entries(making)) }
  for (const block of blocks.slice(0, MAX_CALLS)) {
    if (message.type === "assistant") foldCall(draft, block)
    else foldMade(draft, block, message)
  }
  const tasks = { list: Object.fromEntries(draft.list), making: Object.fromEntries(draft.making) }
  const { progress: _before, ...record } = session.record
  const progress = progressOf(tasks)
  return {
    record: progress === undefined ? record : { ...record, progress },
    own: { ...session.own, tasks },
  }
}

function isAboutTasks(block: Call, type: string, making: KeptTasks["making"]): boolean {
  if (type === "assistant") return block["type"] === "tool_use" && TASK_TOOLS.has(block["name"])
  return block["type"] === "tool_result" && Object.hasOwn(making, textOf(block, "tool_use_id") ?? "")
}

function foldCall({ list, making }: Draft, call: Call): void {
  const input = fieldOf(call, "input")
  switch (call["name"]) {
    case "TodoWrite":
      list.clear()
      for (const [index, todo] of writtenList(input?.["todos"]).entries()) list.set(`todo ${index}`, todo)
      return
    case "TaskCreate": {
      const id = textOf(call, "id")
      const text = textOf(input, "activeForm") ?? textOf(input, "subject")
      if (id !== undefined && text !== undefined && making.size < MAX_MAKING) making.set(id, text.slice(0, TEXT_CHARS))
      return
    }
    case "TaskUpdate":
      update(list, input)
  }
}

function writtenList(todos: unknown): readonly Task[] {
  if (!Array.isArray(todos)) return []
  return todos
    .slice(0, MAX_TASKS)
    .filter(isObject)
    .map((todo) => ({
      text: (textOf(todo, "activeForm") ?? textOf(todo, "content") ?? "").slice(0, TEXT_CHARS),
      status: (textOf(todo, "status") ?? "pending").slice(0, TEXT_CHARS),
    }))
}

function update(list: Draft["list"], input: Call | undefined): void {
  const id = textOf(input, "taskId") ?? ""
  const known = list.get(id)
  if (known === undefined) return
  const status = textOf(input, "status")?.slice(0, TEXT_CHARS) ?? known.status
  const text = textOf(input, "activeForm") ?? textOf(input, "subject") ?? known.text
  if (status === "deleted") list.delete(id)
  else list.set(id, { text: text.slice(0, TEXT_CHARS), status })
}

/** The result of a call that made a task names its id, in its structure or in its words. */
function foldMade({ list, making }: Draft, block: Call, message: Envelope): void {
  const call = textOf(block, "tool_use_id") ?? ""
  const text = making.get(call)
  if (text === undefined) return
  making.delete(call)
  const told = fieldOf(fieldOf(message, "tool_use_result"), "task")
  const id = textOf(told, "id") ?? /#(\d{1,9})\b/.exec(wordsIn(block["content"]))?.[1]
  if (id === undefined || block["is_error"] === true || list.size >= MAX_TASKS) return
  list.set(id.slice(0, TEXT_CHARS), { text, status: "pending" })
}

function wordsIn(content: unknown): string {
  if (typeof content === "string") return content.slice(0, TEXT_CHARS)
  return Array.isArray(content) ? (textOf(content.find(isObject), "text") ?? "").slice(0, TEXT_CHARS) : ""
}

/** How far it is, and the task that it is at. Undefined without a list. */
function progressOf({ list }: KeptTasks): Session["progress"] {
  const all = Object.values(list)
  if (all.length === 0) return undefined
  const step = all.find(({ status, text }) => status === "in_progress" && text !== "")?.text
  const done = all.filter(({ status }) => status === "completed").length
  return { done, total: all.length, ...(step === undefined ? {} : { step }) }
}
