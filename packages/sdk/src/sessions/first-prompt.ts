import { isObject, objectIn, parseObject, stringIn } from "./json-text.ts"

const MAX_CHARS = 200

/** Lines that hold no prompt of a person. They are told by their text: one of these fields anywhere in them will do. */
const NOT_A_PROMPT = /"tool_result"|"isMeta":\s?true|"isCompactSummary":\s?true/
const COMMAND = /<command-name>(.*?)<\/command-name>/
const SHELL = /<bash-input>(.*?)<\/bash-input>/
/** What the CLI puts into user messages by itself: something in tags, or the note of an interruption. */
const GENERATED = /^<[a-z][\w-]*[\s>]|^\[Request interrupted by user[^\]]*\]/

/** What one entry has of it. */
export interface PromptFound {
  readonly prompt?: string
  /** A slash command; it counts only if nothing else was asked. */
  readonly command?: string
}

const NOTHING: PromptFound = {}

/** What the user asked first, shortened; a slash command only if nothing else was asked. */
export function firstPromptIn(head: string): string | undefined {
  let command: string | undefined
  for (const line of head.split("\n")) {
    if (!/"type":\s?"user"/.test(line)) continue
    const found = promptIn(line, () => parseObject(line))
    if (found.prompt !== undefined) return found.prompt
    command ||= found.command
  }
  return command === "" ? undefined : command
}

export function firstPromptOf(entry: Readonly<Record<string, unknown>>): PromptFound {
  return entry["type"] === "user" ? promptIn(JSON.stringify(entry), () => entry) : NOTHING
}

function promptIn(line: string, parse: () => Readonly<Record<string, unknown>> | undefined): PromptFound {
  if (NOT_A_PROMPT.test(line)) return NOTHING
  let command: string | undefined
  for (const text of textsOf(parse())) {
    const prompt = text.replaceAll("\n", " ").trim()
    if (prompt === "") continue
    const named = COMMAND.exec(prompt)?.[1]
    if (named !== undefined) {
      command ||= named
      continue
    }
    const shell = SHELL.exec(prompt)?.[1]
    if (shell !== undefined) return { prompt: `! ${shell.trim()}` }
    if (!GENERATED.test(prompt)) return { prompt: shortened(prompt), ...(command === undefined ? {} : { command }) }
  }
  return command === undefined ? NOTHING : { command }
}

function textsOf(entry: Readonly<Record<string, unknown>> | undefined): string[] {
  if (entry?.["type"] !== "user") return []
  const content = objectIn(entry, "message")?.["content"]
  if (typeof content === "string") return [content]
  if (!Array.isArray(content)) return []
  return content.filter(isObject).flatMap((block) => (block["type"] === "text" ? (stringIn(block, "text") ?? []) : []))
}

function shortened(prompt: string): string {
  if (prompt.length <= MAX_CHARS) return prompt
  // A character of two units may lie on the cut; half of one is no text.
  return `${prompt
    .slice(0, MAX_CHARS)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trim()}…`
}
