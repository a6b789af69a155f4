import { evaluate, type Verdict } from "./evaluate.ts"
import type { Policy, Rule } from "./schemas.ts"
import type { PolicyContext, PolicyRequest } from "./subject.ts"

/** Facts about the session of a tool call. */
export interface CallContext extends PolicyContext {
  /** The folder that the agent has gone to: its paths are relative to that one, and rules may name either. */
  readonly wentTo?: string | undefined
}

const NOT_STOPPED: Verdict = {
  effect: "allow",
  reason: "No rule stops this.",
  why: { rules: [], change: "To stop it, add a rule that denies it or asks." },
}
const UNCLEAR = "The rules cannot tell whether this may run, so a person decides."
const UNCLEAR_CHANGE = "Run it inside the sandbox."

/**
 * A tool call before it runs. Deny and ask rules alone count: to everything else the verdict is allow, which leaves the call to
 * the agent's own decision. Rules that take too much work to try ask. It is judged in both folders, and the stricter verdict counts.
 */
export function judgeCall(policy: Policy, call: PolicyRequest, { wentTo, ...context }: CallContext): Verdict {
  if (policy.rules.every(({ effect }) => effect === "allow")) return NOT_STOPPED
  const here = judgeIn(policy, call, context)
  if (wentTo === undefined || wentTo === context.cwd || here.effect === "deny") return here
  const there = judgeIn(policy, call, { ...context, cwd: wentTo })
  if (there.effect === "deny" || here.effect === "allow") return there
  return there.fourEyes === true ? { ...here, fourEyes: true } : here
}

function judgeIn(policy: Policy, call: PolicyRequest, context: PolicyContext): Verdict {
  const rest: Rule = { id: "", effect: "allow", tool: call.tool }
  const verdict = evaluate({ ...policy, allowing: [rest] }, call, context)
  if (verdict.effect === "allow") return NOT_STOPPED
  if (verdict.effect === "deny" || verdict.rule !== undefined) return verdict
  const { why } = verdict
  // Only what leaves the sandbox is held against the rule for the rest, which nobody wrote.
  return { ...verdict, reason: UNCLEAR, why: why.rules.length === 0 ? why : { rules: [], change: UNCLEAR_CHANGE } }
}

/** Tells people who write a policy what it can judge and what never reaches it. */
export interface PolicySees {
  readonly judged: string
  readonly notJudged: readonly string[]
}

const HOWEVER_FAR = [
  "What a permitted program does: the files it opens and the programs it starts.",
  "Links: a rule judges the path that a call names, and not the file that a link in it leads to.",
  "Letter case: a path is denied or asked about in any case, and allowed only as it is written. In commands and other fields case counts.",
  "Other tools that reach the same file: a rule for Read covers neither Grep, whose folder is its path, nor a shell command. Each needs its own rule.",
]

/** The same words for the hub, the cockpit and docs/spec/enforce.md, by how far a policy reaches. */
export const SEES: Readonly<Record<"asked" | "everything", PolicySees>> = {
  asked: {
    judged:
      "Only what an agent asks about: a tool call for which Claude Code sends a permission request (can_use_tool), an elicitation, a dialog.",
    notJudged: [
      "Tools that Claude Code runs without asking: Read, Glob and Grep in the session's folder, and shell commands that only read, such as cat and ls. A deny rule does not keep a file from being read.",
      "Tools that Claude Code's own settings, allowedTools or an earlier 'always allow' on that machine permit.",
      "Edits in mode acceptEdits, and all tools in the modes auto and bypassPermissions.",
      ...HOWEVER_FAR,
    ],
  },
  everything: {
    judged:
      "Every tool call, before it runs, of agents that are started on a runner with Claude Code 2.1.200 or newer, in every permission mode, sub-agents included. An elicitation or a dialog when the agent asks.",
    notJudged: [
      "Files that a message names with @: Claude Code reads them without a tool.",
      "Commands behind ! in slash commands and skills: Claude Code runs them without a tool.",
      ...HOWEVER_FAR,
      "Settings that a server or a registry manages: if they leave the hub's hook out, that is noticed only when a tool has run.",
      'Agents that were started before, and sessions that an admin started with enforce "asked".',
    ],
  },
}
