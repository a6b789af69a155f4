import { counted } from "@signalbox/protocol"
import type { ToolRow } from "./row.ts"

/** Calls that only look, by what they look at. */
const QUIET: Readonly<Record<string, string>> = {
  Read: "read",
  NotebookRead: "read",
  ReadMcpResourceTool: "read",
  Glob: "search",
  Grep: "search",
  LS: "list",
  ListMcpResourcesTool: "list",
  WebSearch: "web",
  ToolSearch: "tools",
  TodoRead: "todo",
  TaskList: "todo",
  TaskGet: "todo",
}

/** Nobody needs to see each of them: they only look, and nothing came up. */
export function isQuiet(row: ToolRow): boolean {
  if (QUIET[row.name] === undefined || row.ask !== undefined || row.denial !== undefined || row.isRetracted)
    return false
  return row.state === "done" || row.state === "running" || row.state === "live"
}

const PHRASES: Readonly<Record<string, (count: number) => string>> = {
  read: (count) => `read ${counted(count, "file")}`,
  search: (count) => `searched ${counted(count, "pattern")}`,
  list: (count) => `listed ${counted(count, "folder")}`,
  web: (count) => `searched the web${times(count)}`,
  tools: (count) => `looked for tools${times(count)}`,
  todo: (count) => `looked at the tasks${times(count)}`,
}

/** "Read 4 files, searched 2 patterns" */
export function activitySummary(tools: readonly ToolRow[]): string {
  const targets = new Map<string, Set<string>>()
  for (const tool of tools) {
    const kind = QUIET[tool.name] ?? "read"
    const seen = targets.get(kind) ?? new Set()
    seen.add(targetOf(tool, kind))
    targets.set(kind, seen)
  }
  const phrases = [...targets].map(([kind, seen]) => PHRASES[kind]?.(seen.size) ?? "")
  const sentence = phrases.join(", ")
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

/** A file read in three pieces is one file. */
function targetOf(tool: ToolRow, kind: string): string {
  const path = tool.input["file_path"] ?? tool.input["notebook_path"]
  return kind === "read" && typeof path === "string" ? path : tool.key
}

function times(count: number): string {
  return count === 1 ? "" : ` ${count} times`
}
