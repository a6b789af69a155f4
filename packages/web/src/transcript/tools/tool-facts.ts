import { fieldOf, isObject } from "@signalbox/protocol/envelope"
import type { ToolRow, ToolState } from "@signalbox/transcript"
import { oneLine } from "../../design/visible-text.tsx"
import { bytes, plural, shortPath } from "../../design/words.ts"
import { EDITS } from "./edit-hunks.ts"
import { numberIn, resultText, textIn } from "./tool-words.ts"

function isSet(source: unknown, field: string): boolean {
  return isObject(source) && source[field] === true
}

/** How somebody is called to whoever reads. */
type WhoOf = (name: string) => string

type Facts = readonly (string | undefined)[]

/** The outcome of a call, by tool. */
const FACTS: Readonly<Record<string, (row: ToolRow, structured: unknown, whoOf: WhoOf) => Facts>> = {
  Bash: (row) => [exitOf(row), cwdOf(row)],
  Read: (_, structured) => [fileFacts(structured)],
  Glob: (_, structured) => [
    counted(structured, "numFiles", "file"),
    isSet(structured, "truncated") ? "limit reached" : undefined,
  ],
  Grep: (_, structured) => grepFacts(structured),
  NotebookEdit: ({ input }, structured) => {
    const cell = textIn(input, "cell_id")
    const named = cell === undefined ? undefined : `cell ${oneLine(cell, 24)}`
    return [named, textIn(input, "edit_mode"), changedByPerson(structured)]
  },
  Edit: (_, structured) => [changedByPerson(structured)],
  MultiEdit: (_, structured) => [changedByPerson(structured)],
  Write: (_, structured) => [changedByPerson(structured)],
  WebSearch: (_, structured) => [foundOnWeb(structured)],
  ExitPlanMode: (row, _, whoOf) => [verdictOf(row, whoOf)],
}

/** The outcome of a call, in a few words behind its line. */
export function toolFacts(row: ToolRow, whoOf: WhoOf = (name) => name): readonly string[] {
  const facts = Object.hasOwn(FACTS, row.name) ? FACTS[row.name] : undefined
  return facts?.(row, row.result?.structured, whoOf).filter((fact) => fact !== undefined) ?? []
}

function exitOf({ state, result }: ToolRow): string | undefined {
  if (state !== "failed") return undefined
  const code = /^(?:<tool_use_error>)?(?:Error: )?Exit code (\d+)/.exec(resultText(result?.content))?.[1]
  return code === undefined ? undefined : `exit ${code}`
}

/** The CLI puts the shell back when a command leaves the folders it may be in. */
function cwdOf({ result }: ToolRow): string | undefined {
  const said = textIn(result?.structured, "stderr") ?? ""
  const path = /Shell cwd was reset to (\S.*)/.exec(said)?.[1]
  return path === undefined ? undefined : `back in ${oneLine(shortPath(path), 60)}`
}

function fileFacts(structured: unknown): string | undefined {
  const file = fieldOf(structured, "file")
  const size = numberIn(file, "originalSize")
  switch (textIn(structured, "type") ?? "") {
    case "parts":
      return counted(file, "count", "page")
    case "pdf":
    case "image":
      return size === undefined ? undefined : bytes(size)
    case "notebook": {
      const cells = file?.["cells"]
      return Array.isArray(cells) ? plural(cells.length, "cell") : undefined
    }
    default:
      return counted(file, "numLines", "line")
  }
}

function grepFacts(structured: unknown): Facts {
  const limited = numberIn(structured, "appliedLimit") === undefined ? undefined : "limit reached"
  const found =
    textIn(structured, "mode") === "content"
      ? counted(structured, "numLines", "line")
      : (counted(structured, "numMatches", "match", "matches") ?? counted(structured, "numFiles", "file"))
  return [found, limited]
}

function counted(source: unknown, field: string, one: string, many?: string): string | undefined {
  const count = numberIn(source, field)
  return count === undefined ? undefined : plural(count, one, many)
}

function changedByPerson(structured: unknown): string | undefined {
  return isSet(structured, "userModified") ? "edited by you" : undefined
}

function verdictOf({ ask }: ToolRow, whoOf: WhoOf): string | undefined {
  const who = ask?.by === undefined ? "" : ` by ${oneLine(whoOf(ask.by), 40)}`
  if (ask?.outcome === "allowed") return `Approved${who}`
  return ask?.outcome === "denied" ? `Kept planning${who}` : undefined
}

function foundOnWeb(structured: unknown): string | undefined {
  const count = webLinks(structured).length
  return count === 0 ? undefined : plural(count, "result")
}

/** Links that a web search found. */
export function webLinks(structured: unknown): readonly { readonly title: string; readonly url: string }[] {
  const links = listIn(structured, "results").flatMap((result) => listIn(result, "content"))
  return links.flatMap((link) => {
    const url = textIn(link, "url")
    return url === undefined ? [] : [{ url, title: textIn(link, "title") ?? url }]
  })
}

function listIn(source: unknown, field: string): readonly unknown[] {
  const list = isObject(source) ? source[field] : undefined
  return Array.isArray(list) ? list : []
}

interface GitFact {
  readonly text: string
  readonly url?: string
}

const MAX_GIT_FACTS = 4
const COMMIT = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\]/gm
const PULL_REQUEST = /https:\/\/[\w.-]+\/[\w./-]+\/(?:pull|merge_requests)\/(\d+)/g

/** Commits and pull requests that a command made, from what it wrote. */
export function gitFacts({ input, result }: Pick<ToolRow, "input" | "result">): readonly GitFact[] {
  const command = textIn(input, "command") ?? ""
  const output = textIn(result?.structured, "stdout") ?? resultText(result?.content)
  const facts: GitFact[] = []
  if (/\bgit\b[^|;&]*\bcommit\b/.test(command))
    for (const [, hash] of output.matchAll(COMMIT)) facts.push({ text: `commit ${hash}` })
  if (/\b(gh pr|glab mr|git push)\b/.test(command))
    for (const [url, id] of output.matchAll(PULL_REQUEST)) facts.push({ text: `PR #${id}`, url })
  return facts.slice(0, MAX_GIT_FACTS)
}

/** Tools whose rows are open unless the reader wants them brief. */
const OPEN: ReadonlySet<string> = new Set([...EDITS, "TodoWrite", "ExitPlanMode", "AskUserQuestion"])
/** Their output tells why. The output of a command that went well is a click away. */
const TELLS_WHY: ReadonlySet<ToolState> = new Set(["failed", "interrupted"])
/** Files that are read to be looked at. */
const SHOWN_FILES = /\.(?:png|jpe?g|gif|webp|pdf)$/i

type Openable = Pick<ToolRow, "name" | "input" | "state"> & { readonly ask?: unknown }

/** A request is told in the dock while it waits; an edit that was asked about leaves one line here. */
export function isOpenByDefault({ name, input, state, ask }: Openable, detail: string): boolean {
  if (state === "waiting" && ask !== undefined) return false
  if (detail !== "normal") return detail === "full"
  if (name === "Bash") return TELLS_WHY.has(state)
  if (EDITS.has(name) && ask !== undefined) return TELLS_WHY.has(state)
  return OPEN.has(name) || (name === "Read" && SHOWN_FILES.test(textIn(input, "file_path") ?? ""))
}
