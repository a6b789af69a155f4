import { hasUnseen } from "@signalbox/protocol"
import { evaluate } from "./evaluate.ts"
import type { Rule } from "./schemas.ts"
import { isPersonal, type PolicyContext, type PolicyRequest } from "./subject.ts"

/** A request that a person allowed as it was. */
export interface Allowed {
  readonly request: PolicyRequest
  readonly context: PolicyContext
}

type Part = Pick<Rule, "tool" | "input">

/** Up to so many different values are listed one by one; of more, what they have in common. */
const MAX_LISTED = 5
const MAX_VALUE_CHARS = 512
/** Programs that destroy, or run what they are told to: never with a star. */
const EXACT_ONLY = new Set(
  "bash chmod chown curl dd docker env eval exec find kill kubectl make mv node npx perl python python3 rm ruby sh ssh sudo wget xargs zsh".split(
    " ",
  ),
)
/** The field of a tool's input that says what it does. */
const FIELDS: Readonly<Record<string, string>> = {
  Bash: "command",
  Edit: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
  Read: "file_path",
  WebFetch: "url",
  Write: "file_path",
}
const PLAIN_WORD = /^[\w./:@=+,-]+$/

/** Requests with one key may be covered by one rule; undefined for what no rule is proposed for. */
export function proposalKey(request: PolicyRequest): string | undefined {
  const { tool, input } = request
  if (isPersonal(request) || input["dangerouslyDisableSandbox"] !== undefined) return undefined
  if (tool === "Bash") {
    const { command } = input
    return typeof command === "string" ? JSON.stringify([tool, ...startOf(command).slice(0, 2)]) : undefined
  }
  if (tool === "WebFetch") return JSON.stringify([tool, originOf(input["url"]) ?? ""])
  return JSON.stringify([tool])
}

/**
 * The narrowest rule that allows all of these, in the folders where they were allowed. Undefined when rules cannot say it. It is
 * tried on each of them before it is proposed.
 */
export function proposeRule(id: string, allowed: readonly Allowed[]): Rule | undefined {
  const [first] = allowed
  if (first === undefined || allowed.some(({ request }) => proposalKey(request) === undefined)) return undefined
  const part = partOf(first.request.tool, allowed)
  const cwd = folderOf(allowed.map(({ context }) => context.cwd))
  if (part === undefined || cwd === undefined) return undefined
  const rule: Rule = { id, effect: "allow", ...part, ...(cwd === "" ? {} : { cwd }) }
  const policy = { rules: [rule], relayAutoApproval: false }
  const isAllowed = ({ request, context }: Allowed) => evaluate(policy, request, context).effect === "allow"
  return allowed.every(isAllowed) ? rule : undefined
}

function partOf(tool: string, allowed: readonly Allowed[]): Part | undefined {
  const field = Object.hasOwn(FIELDS, tool) ? FIELDS[tool] : undefined
  if (field === undefined) return { tool, ...constantsOf(allowed) }
  const values = [...new Set(allowed.map(({ request }) => request.input[field]))].filter((value) => isText(value))
  const isSayable = field === "command" || field === "url" ? isText : isPlainPath
  if (!allowed.every(({ request }) => isSayable(request.input[field]))) return undefined
  const pattern = values.length <= MAX_LISTED ? listed(field, values) : commonOf(field, values, allowed)
  return pattern === undefined ? undefined : { tool, input: { [field]: pattern } }
}

/** Fields that were the same each time. Where nothing was, the tool is all there is to say. */
function constantsOf(allowed: readonly Allowed[]): Pick<Rule, "input"> {
  const [first, ...others] = allowed.map(({ request }) => request.input)
  const same = Object.entries(first ?? {}).filter(
    ([name, value]) =>
      (isText(value) || typeof value === "number" || typeof value === "boolean") &&
      others.every((input) => input[name] === value),
  )
  if (same.length === 0) return {}
  return { input: Object.fromEntries(same.map(([name, value]) => [name, escaped(String(value))])) }
}

function listed(field: string, values: readonly string[]): string | string[] | undefined {
  // A star may stand for itself in a shell's quotes, or not: a command with both is not written as a pattern.
  if (field === "command" && values.some((value) => /[*\\]/.test(value) && /["'\\]/.test(value))) return undefined
  const patterns = values.map(escaped)
  return patterns.length === 1 ? patterns[0] : patterns
}

function commonOf(
  field: string,
  values: readonly string[],
  allowed: readonly Allowed[],
): string | string[] | undefined {
  if (field === "command") {
    const words = common(values.map(startOf))
    const [program = "", ...rest] = words
    return rest.length === 0 || EXACT_ONLY.has(baseOf(program)) ? undefined : [words.join(" "), `${words.join(" ")} *`]
  }
  if (field === "url") {
    const [origin, ...others] = new Set(values.map(originOf))
    return origin === undefined || others.length > 0 ? undefined : `${origin}/*`
  }
  const folder = common(values.map((value) => value.split("/").slice(0, -1))).join("/")
  const isInside = allowed.every(({ context: { cwd } }) => cwd !== undefined && `${folder}/`.startsWith(`${cwd}/`))
  return isInside && isPlainPath(folder) ? `${folder}/**` : undefined
}

/** The folder where all of it happened: one, or what several are in; "" if none is known. Undefined: too far apart. */
function folderOf(folders: readonly (string | undefined)[]): string | undefined {
  const [first, ...others] = new Set(folders)
  if (others.length === 0) return first === undefined || isPlainPath(first) ? (first ?? "") : undefined
  const all = [first, ...others].filter((folder) => folder !== undefined)
  if (all.length < others.length + 1 || !all.every(isPlainPath)) return undefined
  const shared = common(all.map((folder) => folder.split("/")))
  // Below the root and below a folder of all users' folders.
  return shared.length > 2 ? `${shared.join("/")}/**` : undefined
}

function isPlainPath(path: unknown): path is string {
  return isText(path) && path.startsWith("/") && !/[*\\~]/.test(path) && !path.split("/").includes("..")
}

function isText(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= MAX_VALUE_CHARS &&
    !/[\t\n]/.test(value) &&
    !hasUnseen(value)
  )
}

/** The words that a command begins with, as far as they are plain. */
function startOf(command: string): string[] {
  const words = command.trim().split(/ +/)
  const end = words.findIndex((word) => !PLAIN_WORD.test(word))
  return end === -1 ? words : words.slice(0, end)
}

function baseOf(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1)
}

function originOf(url: unknown): string | undefined {
  return typeof url === "string" ? /^(https?:\/\/[a-z0-9.-]+(?::\d+)?)(?:\/|$)/.exec(url)?.[1] : undefined
}

function common(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = lists
  const end = first.findIndex((word, at) => others.some((other) => other[at] !== word))
  return end === -1 ? first : first.slice(0, end)
}

/** A star of the text is no star of the pattern. */
function escaped(text: string): string {
  return text.replace(/[\\*]/g, "\\$&")
}
