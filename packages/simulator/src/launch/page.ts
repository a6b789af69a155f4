import { existsSync, readdirSync, readFileSync } from "node:fs"

const MAX_FILES = 1000

/** A text with `key: value` lines between dashes at its head: what skills, commands and agents are written in. */
export interface Page {
  readonly head: Readonly<Record<string, string>>
  readonly body: string
}

export function readPage(path: string): Page {
  const text = readFileSync(path, "utf8")
  const [, lines = "", body = ""] = /^---\n([\s\S]*?)\n---\n?([\s\S]*)$/.exec(text) ?? [undefined, "", text]
  const fields = lines.split("\n").flatMap((line): [string, string][] => {
    const [, key, value] = /^([\w-]+): *["']?(.*?)["']? *$/.exec(line) ?? []
    return key === undefined || value === undefined ? [] : [[key, value]]
  })
  return { head: Object.fromEntries(fields), body }
}

/** What it says it is for; without a word of it, its first line. */
export function descriptionOf({ head, body }: Page): string {
  return head["description"] ?? body.trim().split("\n")[0] ?? ""
}

export function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).toSorted().slice(0, MAX_FILES) : []
}
