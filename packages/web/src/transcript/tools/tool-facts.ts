import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { ToolRow } from "@signalbox/transcript"
import { oneLine } from "../../design/visible-text.tsx"
import { bytes, plural, shortPath } from "../../design/words.ts"
import { resultText, textIn } from "./tool-words.ts"

function numberIn(source: unknown, field: string): number | undefined {
  const value = isObject(source) ? source[field] : undefined
  return typeof value === "number" ? value : undefined
}

function isSet(source: unknown, field: string): boolean {
  return isObject(source) && source[field] === true
}

/** How somebody is called to whoever reads. */
type WhoOf = (name: string) => string

/** What a call came to, in a few words behind its line. */
export function toolFacts(row: ToolRow, whoOf: WhoOf = (name) => name): readonly string[] {
  const structured = row.result?.structured
  const facts = factsByTool(row, structured, whoOf)
  return facts.filter((fact) => fact !== undefined)
}

function factsByTool(row: ToolRow, structured: unknown, whoOf: WhoOf): readonly (string | undefined)[] {
  switch (row.name) {
    case "Bash":
      return [exitOf(row), cwdOf(row)]
    case "Read":
      return [fileFacts(structured)]
    case "Glob":
      return [counted(structured, "numFiles", "file"), isSet(structured, "truncated") ? "limit reached" : undefined]
    case "Grep":
      return grepFacts(structured)
    case "NotebookEdit":
      return [
        textIn(row.input, "cell_id") === undefined
          ? undefined
          : `cell ${oneLine(textOf(row.input, "cell_id") ?? "", 24)}`,
        textIn(row.input, "edit_mode"),
        changedByPerson(structured),
      ]
    case "Edit":
    case "MultiEdit":
    case "Write":
      return [changedByPerson(structured)]
    case "WebSearch":
      return [foundOnWeb(structured)]
    case "ExitPlanMode":
      return [verdictOf(row, whoOf)]
    default:
      return []
  }
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
  const file = isObject(structured) ? structured["file"] : undefined
  const size = numberIn(file, "originalSize")
  switch (textIn(structured, "type") ?? "") {
    case "parts":
      return counted(file, "count", "page")
    case "pdf":
    case "image":
      return size === undefined ? undefined : bytes(size)
    case "notebook": {
      const cells = isObject(file) ? file["cells"] : undefined
      return Array.isArray(cells) ? plural(cells.length, "cell") : undefined
    }
    default:
      return counted(file, "numLines", "line")
  }
}

function grepFacts(structured: unknown): readonly (string | undefined)[] {
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

interface WebLink {
  readonly title: string
  readonly url: string
}

/** What a web search found. */
export function webLinks(structured: unknown): readonly WebLink[] {
  const results: readonly unknown[] =
    isObject(structured) && Array.isArray(structured["results"]) ? structured["results"] : []
  return results.flatMap((result) => {
    const content: readonly unknown[] = isObject(result) && Array.isArray(result["content"]) ? result["content"] : []
    return content.flatMap((link) => {
      const url = textIn(link, "url")
      return url === undefined ? [] : [{ url, title: textIn(link, "title") ?? url }]
    })
  })
}

interface GitFact {
  readonly text: string
  readonly url?: string
}

const MAX_GIT_FACTS = 4

/** Commits and pull requests that a command made, from what it wrote. */
export function gitFacts({ input, result }: Pick<ToolRow, "input" | "result">): readonly GitFact[] {
  const command = textIn(input, "command") ?? ""
  const output = textIn(result?.structured, "stdout") ?? resultText(result?.content)
  const commits = /\bgit\b[^|;&]*\bcommit\b/.test(command)
    ? [...output.matchAll(/^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\]/gm)].map(([, hash = ""]) => ({
        text: `commit ${hash}`,
      }))
    : []
  const requests = /\b(gh pr|glab mr|git push)\b/.test(command)
    ? [...output.matchAll(/https:\/\/[\w.-]+\/[\w./-]+\/(?:pull|merge_requests)\/(\d+)/g)].map(([url, id]) => ({
        text: `PR #${id}`,
        url,
      }))
    : []
  return [...commits, ...requests].slice(0, MAX_GIT_FACTS)
}
