/**
 * Where in an event the words were found.
 * @typedef {"text" | "input" | "result" | "thinking"} SearchField
 * @typedef {Readonly<Record<string, unknown>>} Json
 */

/** @type {readonly SearchField[]} */
export const SEARCH_FIELDS = ["text", "input", "result", "thinking"]

/** Searched length of each field: no line may hold up the others. */
const MAX_FIELD_CHARS = 100_000
const MAX_DEPTH = 20

/**
 * The words of a line that somebody may look for: what was said and thought, what tools were given and what they gave
 * back. A line that is no message has none.
 * @param {string} line
 * @returns {Readonly<Partial<Record<SearchField, string>>>}
 */
export function searchableText(line) {
  const message = parse(line)
  const words = new Words()
  switch (message?.["type"]) {
    case "assistant":
    case "user":
      collectContent(words, isJson(message["message"]) ? message["message"]["content"] : undefined)
      break
    case "result":
      words.add("result", message["result"])
      collectLeaves(words, "result", message["errors"])
      break
    case "tool_use_summary":
      words.add("text", message["summary"])
      break
    case "control_request":
      collectQuestion(words, message["request"])
      break
  }
  return words.all
}

class Words {
  /** @type {Partial<Record<SearchField, string>>} */
  all = {}

  /** @param {SearchField} field @param {unknown} text */
  add(field, text) {
    if (typeof text !== "string" || text === "") return
    const before = this.all[field]
    if (before === undefined) this.all[field] = text.slice(0, MAX_FIELD_CHARS)
    else if (before.length < MAX_FIELD_CHARS) this.all[field] = `${before}\n${text}`.slice(0, MAX_FIELD_CHARS)
  }
}

/** @param {Words} words @param {unknown} content */
function collectContent(words, content) {
  words.add("text", content)
  if (!Array.isArray(content)) return
  for (const block of content) if (isJson(block)) collectBlock(words, block)
}

/** @param {Words} words @param {Json} block */
function collectBlock(words, block) {
  switch (block["type"]) {
    case "text":
      words.add("text", block["text"])
      break
    case "thinking":
      words.add("thinking", block["thinking"])
      break
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      words.add("input", block["name"])
      collectLeaves(words, "input", block["input"])
      break
    case "tool_result":
    case "mcp_tool_result":
      collectResult(words, block["content"])
      break
  }
}

/**
 * Text only: an image's bytes are nothing to look for.
 * @param {Words} words @param {unknown} content
 */
function collectResult(words, content) {
  words.add("result", content)
  if (!Array.isArray(content)) return
  for (const part of content) if (isJson(part) && part["type"] === "text") words.add("result", part["text"])
}

/**
 * A tool's input stands in the message that uses it; an elicitation is nowhere else.
 * @param {Words} words @param {unknown} request
 */
function collectQuestion(words, request) {
  if (!isJson(request) || request["subtype"] !== "elicitation") return
  words.add("text", request["message"])
}

/**
 * Every text and number in it, in order, a line each.
 * @param {Words} words @param {SearchField} field @param {unknown} value
 */
function collectLeaves(words, field, value, depth = 0) {
  if (typeof value === "string") words.add(field, value)
  else if (typeof value === "number") words.add(field, String(value))
  else if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
    for (const item of Object.values(value)) collectLeaves(words, field, item, depth + 1)
  }
}

/** @param {string} line @returns {Json | undefined} */
function parse(line) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(line)
    return isJson(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** @param {unknown} value @returns {value is Json} */
function isJson(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
