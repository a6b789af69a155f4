import { policyRequestOf, proposeRule } from "@signalbox/policy"

type Fields = Readonly<Record<string, unknown>>

/** The field of a tool's input that a rule of the CLI's can name, and the pattern for it in the CLI's way of writing. */
const NAMED: Readonly<Record<string, readonly [field: string, write: (pattern: string) => string | undefined]>> = {
  Bash: ["command", (pattern) => (/[*\\]/.test(pattern) ? undefined : pattern)],
  Read: ["file_path", fromRoot],
  Edit: ["file_path", fromRoot],
  MultiEdit: ["file_path", fromRoot],
  Write: ["file_path", fromRoot],
  NotebookEdit: ["notebook_path", fromRoot],
  WebFetch: ["url", hostOf],
}

/**
 * "Always allow" as narrow as the rule that is proposed for this call: this command, this file, this host, or else this tool.
 * Undefined where no rule is proposed, or the CLI would have to say it wider.
 */
export function suggestionsFor(request: Fields): readonly Fields[] | undefined {
  const asked = policyRequestOf(request)
  const proposed = asked && proposeRule("suggested", [{ request: asked, context: { session: "" } }])
  if (proposed?.tool === undefined) return undefined
  const { tool: toolName, input } = proposed
  if (!Object.hasOwn(NAMED, toolName)) return suggesting({ toolName })
  const [field, write] = NAMED[toolName] ?? []
  const pattern = field === undefined ? undefined : input?.[field]
  const ruleContent = typeof pattern === "string" ? write?.(pattern) : undefined
  return ruleContent === undefined ? undefined : suggesting({ toolName, ruleContent })
}

const suggesting = (rule: Fields) => [{ type: "addRules", rules: [rule], behavior: "allow", destination: "session" }]

/** A rule for a host is one for its usual port. */
function hostOf(url: string): string | undefined {
  const host = /^https?:\/\/([a-z0-9.-]+)(?:\/|$)/.exec(url)?.[1]
  return host === undefined ? undefined : `domain:${host}`
}

/** The CLI writes a path from the root with two slashes, and has patterns that ours have not. */
function fromRoot(path: string): string | undefined {
  return /[*?[\]{}!\\]/.test(path) ? undefined : `/${path}`
}
