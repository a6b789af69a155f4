import { existsSync, readFileSync, statSync } from "node:fs"
import { basename } from "node:path"
import { usageError } from "../base/failure.ts"
import { readTaskList } from "./task-list.ts"

export interface GivenTasks {
  readonly title: string
  readonly texts: readonly string[]
  /** Boxes that were ticked already. */
  readonly ticked: number
}

const MAX_TASKS = 1_000
const MAX_TASK_CHARS = 100_000
const MAX_FILE_BYTES = 16 * 1024 * 1024
const TITLE_CHARS = 100

/** A Markdown file, or a sentence. The file is read and never written. */
export function givenTasks(words: readonly string[]): GivenTasks {
  const given = words.join(" ").trim()
  if (given === "") throw usageError('say what to do: signalbox loop TASKS.md, or signalbox loop "the task"')
  const isFile = words.length === 1 && (existsSync(given) || /\.(?:md|markdown)$/i.test(given))
  return checked(isFile ? tasksOfFile(given) : { title: titleOf(given), texts: [given], ticked: 0 })
}

function tasksOfFile(path: string): GivenTasks {
  const list = readTaskList(readList(path))
  if (list.length === 0) throw usageError(`${path} has no tasks: write each as a line that begins with "- [ ] "`)
  const open = list.filter(({ isTicked }) => !isTicked)
  return {
    title: titleOf(basename(path)),
    texts: open.map(({ text }) => text),
    ticked: list.length - open.length,
  }
}

function readList(path: string): string {
  try {
    if (statSync(path).size <= MAX_FILE_BYTES) return readFileSync(path, "utf8")
  } catch {
    throw usageError(`${path} cannot be read: give a Markdown file with a list of tasks, or a sentence`)
  }
  throw usageError(`${path} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB: that is no list of tasks`)
}

function checked(tasks: GivenTasks): GivenTasks {
  const { texts } = tasks
  if (texts.length > MAX_TASKS) throw usageError(`${texts.length} tasks are too many: give ${MAX_TASKS} at most`)
  const long = texts.findIndex((text) => text.length > MAX_TASK_CHARS)
  if (long >= 0) throw usageError(`task ${long + 1} is longer than ${MAX_TASK_CHARS} characters: put it into a file`)
  return tasks
}

function titleOf(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, TITLE_CHARS)
}
