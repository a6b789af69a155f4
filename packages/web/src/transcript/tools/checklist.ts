import { isObject } from "@signalbox/protocol/envelope"
import type { Row, ToolRow } from "@signalbox/transcript"
import { resultText, type Todo, textIn, todosOf } from "./tool-words.ts"

/** How a list of things to do changed from one writing to the next. */
interface TodoChanges {
  readonly words: string
  readonly changed: readonly Todo[]
}

/** Undefined: what it was before is not known. */
export function todoChanges({ input, result }: Pick<ToolRow, "input" | "result">): TodoChanges | undefined {
  const before = result?.structured
  if (!isObject(before) || !Array.isArray(before["oldTodos"])) return undefined
  const old = new Map(todosOf({ todos: before["oldTodos"] }).map(({ text, status }) => [text, status]))
  const now = todosOf(input)
  const changed = now.filter(({ text, status }) => old.get(text) !== status)
  const became = (wanted: string) => changed.filter(({ status }) => status === wanted).length
  const [done, started] = [became("completed"), became("in_progress")]
  const added = changed.filter(({ text, status }) => !old.has(text) && status === "pending").length
  const gone = [...old.keys()].filter((text) => !now.some((todo) => todo.text === text)).length
  const words = [
    done > 0 && `${done} done`,
    started > 0 && `${started} started`,
    added > 0 && `${added} added`,
    gone > 0 && `${gone} removed`,
  ].filter((part) => part !== false)
  return { words: words.length === 0 ? "unchanged" : words.join(", "), changed }
}

/** The list as it stands at the end of what is loaded, however the agent keeps it. */
export function checklistOf(rows: readonly Row[]): readonly Todo[] {
  let list = new Map<string, Todo>()
  for (const row of rows) {
    if (row.kind !== "tool" || row.lane !== null || row.state === "live") continue
    if (row.name === "TodoWrite") list = new Map(todosOf(row.input).map((todo, index) => [`todo ${index}`, todo]))
    if (row.name === "TaskCreate") created(list, row)
    if (row.name === "TaskUpdate") updated(list, row)
  }
  return [...list.values()]
}

function created(list: Map<string, Todo>, row: ToolRow): void {
  const text = textIn(row.input, "subject") ?? textIn(row.input, "description")
  const structured = row.result?.structured
  const told = isObject(structured) ? textIn(structured["task"], "id") : undefined
  const id = told ?? /#(\d+)/.exec(resultText(row.result?.content))?.[1]
  if (text !== undefined && id !== undefined) list.set(id, { text, status: "pending" })
}

function updated(list: Map<string, Todo>, row: ToolRow): void {
  const id = textIn(row.input, "taskId") ?? ""
  const known = list.get(id)
  const status = textIn(row.input, "status")
  if (status === "deleted") list.delete(id)
  else if (known !== undefined)
    list.set(id, { text: textIn(row.input, "subject") ?? known.text, status: status ?? known.status })
}
