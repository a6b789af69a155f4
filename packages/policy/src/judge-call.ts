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
