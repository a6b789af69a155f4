import { relative, resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
import { globPattern } from "../permissions/rules.ts"
import type { Fields } from "../profiles/profile.ts"
import type { Checkpoints, Files } from "./files.ts"
import { type Tool, type ToolOutcome, type ToolRun, toolFailure } from "./toolbox.ts"

const CONTEXT_LINES = 3

/** Read, Write, Edit, Glob and Grep on whichever files there are. */
export function fileTools(files: Files, checkpoints: Checkpoints): Record<string, Tool> {
  const read = new Set<string>()
  return {
    Read: readTool(files, read),
    Write: writeTool(files, checkpoints, read),
    Edit: editTool(files, checkpoints, read),
    Glob: globTool(files),
    Grep: grepTool(files),
  }
}

function pathOf({ core, input }: ToolRun): string {
  return resolve(core.launch.cwd, textOf(input, "file_path") ?? "")
}

function isTerse({ profile }: ToolRun["core"]): boolean {
  return profile.quirks.toolFormat === "terse"
}

function missing({ core }: ToolRun): string {
  return isTerse(core)
    ? "File does not exist."
    : `File does not exist. Note: your current working directory is ${core.launch.cwd}.`
}

function readTool(files: Files, read: Set<string>): Tool {
  return {
    check(run) {
      const isMissing = files.read(pathOf(run)) === undefined
      return isTerse(run.core) && isMissing ? missing(run) : undefined
    },
    async run(run) {
      const path = pathOf(run)
      const content = files.read(path)
      if (content === undefined) return toolFailure(missing(run))
      read.add(path)
      const lines = content.split("\n")
      const startLine = Math.max(1, numberIn(run.input, "offset") ?? 1)
      const shown = lines.slice(startLine - 1, startLine - 1 + (numberIn(run.input, "limit") ?? lines.length))
      const numbered = shown.map((line, index) => numberedLine(run, startLine + index, line)).join("\n")
      const filePath = textOf(run.input, "file_path") ?? path
      const part = { content: shown.join("\n"), numLines: shown.length, startLine, totalLines: lines.length }
      return { content: numbered, structured: { type: "text", file: { filePath, ...part } } }
    },
  }
}

function numberIn(input: Readonly<Fields>, key: string): number | undefined {
  const value = input[key]
  return typeof value === "number" && Number.isInteger(value) ? value : undefined
}

function numberedLine({ core }: ToolRun, number: number, line: string): string {
  return isTerse(core) ? `${String(number).padStart(6)}→${line}` : `${number}\t${line}`
}

function writeTool(files: Files, checkpoints: Checkpoints, read: Set<string>): Tool {
  return {
    check(run) {
      const path = pathOf(run)
      // An empty file has nothing in it to lose.
      const unread = (files.read(path) ?? "") !== "" && !read.has(path)
      return unread ? "File has not been read yet. Read it first before writing to it." : undefined
    },
    async run(run) {
      const path = pathOf(run)
      const named = textOf(run.input, "file_path") ?? path
      const content = textOf(run.input, "content") ?? ""
      const before = files.read(path) || undefined
      checkpoints.keep(path)
      files.write(path, content)
      read.add(path)
      const isNew = before === undefined
      const structuredPatch = isNew ? [] : patchOf(before, content)
      const type = isNew ? "create" : "update"
      const base = { type, filePath: named, content, structuredPatch, originalFile: before ?? null }
      return {
        content: isNew ? `File created successfully at: ${named}${current(run)}` : updated(run, named),
        structured: isTerse(run.core) ? base : { ...base, userModified: false },
      }
    },
  }
}

function editTool(files: Files, checkpoints: Checkpoints, read: Set<string>): Tool {
  return {
    check(run) {
      const path = pathOf(run)
      const content = files.read(path)
      const wanted = textOf(run.input, "old_string") ?? ""
      if (content === undefined) return "File does not exist."
      if (!read.has(path)) return "File has not been read yet. Read it first before writing to it."
      return content.includes(wanted) ? undefined : `String to replace not found in file.\nString: ${wanted}`
    },
    async run(run) {
      const path = pathOf(run)
      const named = textOf(run.input, "file_path") ?? path
      const before = files.read(path) ?? ""
      const [oldString, newString] = [textOf(run.input, "old_string") ?? "", textOf(run.input, "new_string") ?? ""]
      const replaceAll = run.input["replace_all"] === true
      const after = replaceAll ? before.replaceAll(oldString, newString) : before.replace(oldString, () => newString)
      checkpoints.keep(path)
      files.write(path, after)
      return {
        content: updated(run, named),
        structured: {
          filePath: named,
          oldString,
          newString,
          originalFile: before,
          structuredPatch: patchOf(before, after),
          userModified: false,
          replaceAll,
        },
      }
    },
  }
}

function updated(run: ToolRun, named: string): string {
  return `The file ${named} has been updated successfully.${current(run)}`
}

function current({ core }: ToolRun): string {
  return core.profile.quirks.tellsFileState ? " (file state is current in your context — no need to Read it back)" : ""
}

/** One hunk around everything that changed: what a viewer draws. */
function patchOf(before: string, after: string): Fields[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  if (head === a.length && head === b.length) return []
  const start = Math.max(0, head - CONTEXT_LINES)
  const [endA, endB] = [Math.min(a.length, a.length - tail + CONTEXT_LINES), b.length - tail]
  const context = (from: number, to: number) => a.slice(from, to).map((line) => ` ${line}`)
  const lines = [
    ...context(start, head),
    ...a.slice(head, a.length - tail).map((line) => `-${line}`),
    ...b.slice(head, endB).map((line) => `+${line}`),
    ...context(a.length - tail, endA),
  ]
  const newLines = lines.filter((line) => !line.startsWith("-")).length
  return [{ oldStart: start + 1, oldLines: endA - start, newStart: start + 1, newLines, lines }]
}

function linesOf(text: string): string[] {
  const lines = text.split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

function globTool(files: Files): Tool {
  return {
    async run({ core, input }) {
      const folder = resolve(core.launch.cwd, textOf(input, "path") ?? "")
      const pattern = globPattern(textOf(input, "pattern") ?? "*")
      const found = files.list(folder).filter((path) => pattern.test(relative(folder, path)))
      const shown = isTerse(core) ? found : found.map((path) => relative(core.launch.cwd, path))
      const structured = { filenames: shown, durationMs: 1, numFiles: shown.length, truncated: false }
      return { content: shown.length === 0 ? "No files found" : shown.join("\n"), structured }
    },
  }
}

function grepTool(files: Files): Tool {
  return {
    async run({ core, input }) {
      const folder = resolve(core.launch.cwd, textOf(input, "path") ?? "")
      const pattern = safePattern(textOf(input, "pattern") ?? "")
      const found = files.list(folder).filter((path) => pattern.test(files.read(path) ?? ""))
      if (input["output_mode"] === "content") return matchingLines(found, { core, files, pattern })
      const filenames = found.map((path) => relative(core.launch.cwd, path))
      const count = `Found ${filenames.length} file${filenames.length === 1 ? "" : "s"}`
      const content = filenames.length === 0 ? "No files found" : [count, ...filenames].join("\n")
      return { content, structured: { mode: "files_with_matches", filenames, numFiles: filenames.length } }
    },
  }
}

/** Every line that matches, with its file and number. */
function matchingLines(
  paths: readonly string[],
  { core, files, pattern }: Pick<ToolRun, "core"> & { files: Files; pattern: RegExp },
): ToolOutcome {
  const lines = paths.flatMap((path) =>
    (files.read(path) ?? "")
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${relative(core.launch.cwd, path)}:${index + 1}:${line}`] : [],
      ),
  )
  const content = lines.length === 0 ? "No matches found" : lines.join("\n")
  return { content, structured: { mode: "content", numFiles: 0, filenames: [], content, numLines: lines.length } }
}

function safePattern(source: string): RegExp {
  try {
    return new RegExp(source, "m")
  } catch {
    return new RegExp(source.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  }
}
