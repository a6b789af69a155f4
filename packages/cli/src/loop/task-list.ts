/** A task of a Markdown checklist. What is indented below its first line belongs to it, boxes too. */
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

/** The boxes of a list, in order. Those in a block of code are none. */
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

/** What is below stands as far left as it can. */
function textOf([first = "", ...below]: readonly string[]): string {
  const filled = below.filter((line) => line.trim() !== "")
  const margin = Math.min(...filled.map(indentOf))
  const shifted = below.map((line) => line.replaceAll("\t", "    ").slice(Number.isFinite(margin) ? margin : 0))
  return [first, ...shifted].join("\n").trim()
}
