import { isObject } from "@signalbox/protocol/envelope"

/** Deeper than this the lines begin at one place: an indent that grows on would print a few kilobytes as megabytes. */
const MAX_INDENT = 20

type Task = string | { readonly value: unknown; readonly depth: number }

/** JSON as `JSON.stringify` prints it with an indent of two, but for the bound on the indent, and whatever the depth. Pure. */
export function jsonText(value: unknown): string {
  const text: string[] = []
  const tasks: Task[] = [{ value, depth: 0 }]
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    if (typeof task === "string") text.push(task)
    else openValue(task.value, task.depth, (part) => text.push(part), tasks)
  }
  return text.join("")
}

/** Writes a plain value, or begins one with others in it: these are printed next. */
function openValue(value: unknown, depth: number, write: (part: string) => void, tasks: Task[]): void {
  const isList = Array.isArray(value)
  const fields = isList || !isObject(value) ? [] : Object.entries(value).filter(([, each]) => each !== undefined)
  const values: readonly unknown[] = isList ? value : fields.map(([, each]) => each)
  if (values.length === 0) return write(isList ? "[]" : isObject(value) ? "{}" : (JSON.stringify(value) ?? "null"))
  const line = (level: number) => `\n${"  ".repeat(Math.min(level, MAX_INDENT))}`
  write(isList ? "[" : "{")
  tasks.push(`${line(depth)}${isList ? "]" : "}"}`)
  for (let index = values.length - 1; index >= 0; index--) {
    const name = isList ? "" : `${JSON.stringify(fields[index]?.[0])}: `
    tasks.push({ value: values[index], depth: depth + 1 }, `${index > 0 ? "," : ""}${line(depth + 1)}${name}`)
  }
}
