import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import type { KeptSession, KeptTasks } from "../model/session-record.ts"

type Call = Readonly<Record<string, unknown>>

const MAX_TASKS = 100
const MAX_MAKING = 20
const TEXT_CHARS = 200
const NO_TASKS: KeptTasks = { list: {}, making: {} }

/** Reads the list from the calls that write it. The same object when nothing changed. Sub-agents have lists of their own. */
export function foldTasks(session: KeptSession, message: Envelope): KeptSession {
  if (message["parent_tool_use_id"] != null) return session
  const content = fieldOf(message, "message")?.["content"]
  if (!Array.isArray(content)) return session
  const before = session.own.tasks ?? NO_TASKS
  let tasks = before
  for (const block of content) {
    if (!isObject(block)) continue
    if (message.type === "assistant" && block["type"] === "tool_use") tasks = foldCall(tasks, block)
    if (message.type === "user" && block["type"] === "tool_result") tasks = foldMade(tasks, block, message)
  }
  if (tasks === before) return session
  const { progress: _before, ...record } = session.record
  const progress = progressOf(tasks)
  return {
    record: progress === undefined ? record : { ...record, progress },
    own: { ...session.own, tasks },
  }
}

function foldCall(tasks: KeptTasks, call: Call): KeptTasks {
  const input = fieldOf(call, "input")
  switch (call["name"]) {
    case "TodoWrite":
      return { ...tasks, list: writtenList(input?.["todos"]) }
    case "TaskCreate": {
      const id = textOf(call, "id")
      const text = textOf(input, "activeForm") ?? textOf(input, "subject")
      if (id === undefined || text === undefined || Object.keys(tasks.making).length >= MAX_MAKING) return tasks
      return { ...tasks, making: { ...tasks.making, [id]: text.slice(0, TEXT_CHARS) } }
    }
    case "TaskUpdate":
      return updated(tasks, input)
    default:
      return tasks
  }
}

function writtenList(todos: unknown): KeptTasks["list"] {
  if (!Array.isArray(todos)) return {}
  const known = todos.filter(isObject).slice(0, MAX_TASKS)
  return Object.fromEntries(
    known.map((todo, index) => [
      `todo ${index}`,
      {
        text: (textOf(todo, "activeForm") ?? textOf(todo, "content") ?? "").slice(0, TEXT_CHARS),
        status: (textOf(todo, "status") ?? "pending").slice(0, TEXT_CHARS),
      },
    ]),
  )
}

function updated(tasks: KeptTasks, input: Call | undefined): KeptTasks {
  const id = textOf(input, "taskId") ?? ""
  const known = Object.hasOwn(tasks.list, id) ? tasks.list[id] : undefined
  if (known === undefined) return tasks
  const { [id]: _gone, ...others } = tasks.list
  const status = textOf(input, "status")?.slice(0, TEXT_CHARS) ?? known.status
  if (status === "deleted") return { ...tasks, list: others }
  const text = textOf(input, "activeForm") ?? textOf(input, "subject") ?? known.text
  return { ...tasks, list: { ...tasks.list, [id]: { text: text.slice(0, TEXT_CHARS), status } } }
}

/** The result of a call that made a task names its id, in its structure or in its words. */
function foldMade(tasks: KeptTasks, block: Call, message: Envelope): KeptTasks {
  const call = textOf(block, "tool_use_id") ?? ""
  const text = Object.hasOwn(tasks.making, call) ? tasks.making[call] : undefined
  if (text === undefined) return tasks
  const { [call]: _made, ...making } = tasks.making
  const told = fieldOf(fieldOf(message, "tool_use_result"), "task")
  const id = textOf(told, "id") ?? /#(\d{1,9})\b/.exec(wordsIn(block["content"]))?.[1]
  const isFull = Object.keys(tasks.list).length >= MAX_TASKS
  if (id === undefined || block["is_error"] === true || isFull) return { ...tasks, making }
  return { making, list: { ...tasks.list, [id.slice(0, TEXT_CHARS)]: { text, status: "pending" } } }
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
