import { existsSync, readFileSync, statSync } from "node:fs"
import { basename } from "node:path"
import { usageError } from "../base/failure.ts"

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
  if (given === "") throw usageError('give the tasks: signalbox loop TASKS.md, or signalbox loop "the task"')
  const isFile = words.length === 1 && (existsSync(given) || /\.(?:md|markdown)$/i.test(given))
  return checked(isFile ? tasksOfFile(given) : { title: titleOf(given), texts: [given], ticked: 0 })
}

function tasksOfFile(path: string): GivenTasks {
  const list = readTaskList(readList(path))
  if (list.length === 0) throw usageError(`${path} has no tasks: write each as a line that starts with "- [ ] "`)
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
    throw usageError(`can't read ${path}: give a Markdown file with a list of tasks, or a sentence`)
  }
  throw usageError(`${path} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB: too large for a list of tasks`)
}

function checked(tasks: GivenTasks): GivenTasks {
  const { texts } = tasks
  if (texts.length > MAX_TASKS) throw usageError(`too many tasks (${texts.length}): give at most ${MAX_TASKS}`)
  const long = texts.findIndex((text) => text.length > MAX_TASK_CHARS)
  if (long >= 0)
    throw usageError(`task ${long + 1} is longer than ${MAX_TASK_CHARS} characters: move the details to a file`)
  return tasks
}

function titleOf(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, TITLE_CHARS)
}

/** A task of a Markdown checklist. Lines indented below it belong to it, boxes too. */
export interface ListedTask {
  readonly text: string
  readonly isTicked: boolean
}

const BOX = /^(\s*)(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\](?:\s+(.*))?$/
const FENCE = /^\s*(```+|~~~+)/

interface Open {
  readonly indent: number
  readonly isTicked: boolean
  readonly lines: string[]
}

/** The boxes of a list, in order. Boxes in a code block do not count. */
export function readTaskList(markdown: string): ListedTask[] {
  const tasks: Open[] = []
  let open: Open | undefined
  let fence: string | undefined
  for (const line of markdown.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1]
    const isBelow = open !== undefined && (line.trim() === "" || indentOf(line) > open.indent)
    const box = fence === undefined && !isBelow ? BOX.exec(line) : null
    if (box !== null) {
      open = { indent: indentOf(line), isTicked: box[2] !== " ", lines: [box[3] ?? ""] }
      tasks.push(open)
    } else if (isBelow || (fence !== undefined && open !== undefined)) open?.lines.push(line)
    else open = undefined
    if (mark !== undefined) fence = fenceAfter(fence, mark)
  }
  return tasks.map(({ lines, isTicked }) => ({ text: textOf(lines), isTicked })).filter(({ text }) => text !== "")
}

function fenceAfter(fence: string | undefined, mark: string): string | undefined {
  if (fence === undefined) return mark
  return mark.startsWith(fence) ? undefined : fence
}

function indentOf(line: string): number {
  return line.replaceAll("\t", "    ").search(/\S|$/)
}

/** The items below stand as far left as they can. */
function textOf([first = "", ...below]: readonly string[]): string {
  const filled = below.filter((line) => line.trim() !== "")
  const margin = Math.min(...filled.map(indentOf))
  const shifted = below.map((line) => line.replaceAll("\t", "    ").slice(Number.isFinite(margin) ? margin : 0))
  return [first, ...shifted].join("\n").trim()
}
