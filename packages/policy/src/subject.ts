import { isObject } from "@signalbox/protocol"
import { type CommandNeeds, needsOf } from "./command-cover.ts"
import { commandForms } from "./command-forms.ts"
import type { TouchedCommand } from "./command-pattern.ts"
import { MAX_TEXT_CHARS, type Work } from "./matching.ts"
import { type PathForms, pathForms, type SearchedFolders, searchedFolders } from "./path-pattern.ts"
import type { Surroundings } from "./rule-limits.ts"
import { readShell, type ShellReading } from "./shell-reading.ts"
import { type UrlForms, urlForms } from "./url-pattern.ts"

/** A question, as far as rules look at it. */
export interface PolicyRequest {
  /** The tool's name; "elicitation" and "dialog" for the questions that no tool asks. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** The agent says that a person must see it. */
  readonly needsPerson?: boolean
}

/** Facts about the session that asks. */
export interface PolicyContext extends Surroundings {
  readonly session: string
  readonly cwd?: string | undefined
  readonly mode?: string | undefined
}

/** A request with what was worked out of it, once for all rules. */
export interface Subject {
  readonly request: PolicyRequest
  readonly context: PolicyContext
  readonly work: Work
  readonly searched: SearchedFolders | undefined
  readonly reading: (text: string) => ShellReading
  /** As an allow sees a command. */
  readonly needs: (text: string) => CommandNeeds
  /** As a deny or an ask sees it. */
  readonly touched: (text: string) => TouchedCommand
  readonly path: (text: string) => PathForms
  /** The session's folder as a path of its own. */
  readonly folder: (text: string) => PathForms
  readonly url: (text: string) => UrlForms | undefined
  readonly json: (value: unknown) => string | undefined
}

/** Everything that some shell gives a meaning: another shell than Bash may quote otherwise, and hide an operator from us. */
const SPECIAL = /["'\\`$;&|<>(){}!#%^\n\r]/
const NOT_BASH = "it contains quotes or operators, and only Bash's are known"

export function subjectOf(request: PolicyRequest, context: PolicyContext, work: Work): Subject {
  const isBash = request.tool === "Bash"
  const reading = remember((text: string) => readShell(text, work))
  const path = remember((text: string) => pathForms(text, context.cwd, work))
  return {
    request,
    context,
    work,
    searched: searchedFolders(request.tool, request.input, context.cwd),
    reading,
    needs: remember((text: string) => {
      const needs = needsOf(reading(text), work)
      const span = { start: 0, end: text.length }
      return isBash || !SPECIAL.test(text) ? needs : { ...needs, problem: { because: NOT_BASH, span } }
    }),
    touched: remember((text: string) => ({
      reading: reading(text),
      forms: commandForms(text, reading(text), work),
      path,
    })),
    path,
    folder: remember((text: string) => pathForms(text, undefined, work)),
    url: remember((text: string) => urlForms(text, work)),
    json: remember((value: unknown) => jsonText(value, work)),
  }
}

function remember<K, T>(read: (key: K) => T): (key: K) => T {
  const results = new Map<K, { readonly result: T }>()
  return (key) => {
    let known = results.get(key)
    if (known === undefined) {
      known = { result: read(key) }
      results.set(key, known)
    }
    return known.result
  }
}

const MAX_JSON_DEPTH = 256

/** The value as JSON, or undefined if that is longer or deeper than rules look at: then nothing of it is copied. */
function jsonText(value: unknown, work: Work): string | undefined {
  return fits(value, work) ? JSON.stringify(value) : undefined
}

/** Counts at least what the text must have. Goes on only while it may fit, however much there is. */
function fits(value: unknown, work: Work): boolean {
  let chars = 0
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: each, depth } = next
    chars += 1 + (typeof each === "string" || Array.isArray(each) ? each.length : 0)
    if (chars > MAX_TEXT_CHARS || depth > MAX_JSON_DEPTH) return false
    if (Array.isArray(each)) for (const item of each) open.push({ value: item, depth: depth + 1 })
    else if (isObject(each)) {
      for (const name in each) {
        chars += 1 + name.length
        if (chars > MAX_TEXT_CHARS) return false
        open.push({ value: each[name], depth: depth + 1 })
      }
    }
  }
  work.spend(8 * chars)
  return true
}
