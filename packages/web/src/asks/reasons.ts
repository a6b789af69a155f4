import type { Ask } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { blockedPathWords } from "@signalbox/transcript"

type Reasoned = Pick<Ask, "kind" | "request" | "input" | "rule">

/** Why somebody is asked: facts that the CLI or the hub gave, nothing of our own making. Pure. */
export function reasonsOf(
  { kind, request, input, rule }: Reasoned,
  cwd: string | null = null,
  home?: string,
): readonly string[] {
  const text = (field: string) => textOf(request, field)
  const description = descriptionOf(request, input)
  const matched = request["matched_ask_rule"]
  const server = request["mcp_server"]
  const reasons = [
    text("decision_reason"),
    ifGiven(text("blocked_path"), (path) => blockedPathWords(path, { folders: [cwd], home })),
    kind === "tool" ? description : undefined,
    matched === undefined || matched === null ? undefined : `The CLI's rule ${ruleName(matched)} asks for this.`,
    ifGiven(rule, (id) => `The hub's rule ${id} asks for this.`),
    input?.["dangerouslyDisableSandbox"] === true ? "The sandbox is off for this." : undefined,
    ifGiven(hostOf(textOf(input, "url")), (host) => `Network: ${host}`),
    isObject(server) && kind === "tool" ? `From the MCP server ${textOf(server, "name") ?? "?"}.` : undefined,
  ]
  return [...new Set(reasons.flatMap((reason) => (reason === undefined || reason === "" ? [] : [reason])))]
}

/** What stands in the request itself already, a command's purpose or a file's path, is no reason. */
function descriptionOf(request: Ask["request"], input: Ask["input"]): string | undefined {
  const description = textOf(request, "description")
  const path = textOf(input, "file_path") ?? textOf(input, "notebook_path")
  const isShown =
    description === textOf(input, "description") ||
    description === path ||
    (description !== undefined && path?.endsWith(`/${description}`) === true)
  return isShown ? undefined : description
}

function ifGiven(value: string | undefined, words: (value: string) => string): string | undefined {
  return value === undefined || value === "" ? undefined : words(value)
}

/** What a CLI calls a rule is not published: its words where it has some, else all of it. */
function ruleName(rule: unknown): string {
  if (typeof rule === "string") return rule
  if (!isObject(rule)) return JSON.stringify(rule)
  const tool = textOf(rule, "toolName")
  if (tool === undefined) return JSON.stringify(rule)
  const content = textOf(rule, "ruleContent")
  return content === undefined ? tool : `${tool}(${content})`
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined
}
