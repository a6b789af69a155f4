import { isObject, objectIn, parseObject, stringIn } from "./json-text.ts"

const MAX_CHARS = 200

/** Lines that hold no prompt of a person. They are told by their text: one of these fields anywhere in them will do. */
const NOT_A_PROMPT = /"tool_result"|"isMeta":\s?true|"isCompactSummary":\s?true/
const COMMAND = /<command-name>(.*?)<\/command-name>/
const SHELL = /<bash-input>(.*?)<\/bash-input>/
/** What the CLI puts into user messages by itself: something in tags, or the note of an interruption. */
const GENERATED = /^<[a-z][\w-]*[\s>]|^\[Request interrupted by user[^\]]*\]/

/** What the user asked first, shortened; a slash command only if nothing else was asked. */
export function firstPromptIn(head: string): string | undefined {
  let command: string | undefined
  for (const line of head.split("\n")) {
    if (!/"type":\s?"user"/.test(line) || NOT_A_PROMPT.test(line)) continue
    for (const text of textsOf(line)) {
      const prompt = text.replaceAll("\n", " ").trim()
      if (prompt === "") continue
      const named = COMMAND.exec(prompt)?.[1]
      if (named !== undefined) {
        command ||= named
        continue
      }
      const shell = SHELL.exec(prompt)?.[1]
      if (shell !== undefined) return `! ${shell.trim()}`
      if (!GENERATED.test(prompt)) return shortened(prompt)
    }
  }
  return command === "" ? undefined : command
}

function textsOf(line: string): string[] {
  const entry = parseObject(line)
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
