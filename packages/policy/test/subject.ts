import { evaluate, type PolicyContext, type Rule, type Verdict } from "@signalbox/policy"

export const CONTEXT: PolicyContext = { session: "s1", cwd: "/srv/app", mode: "default" }

export type Draft = Omit<Rule, "id"> & { readonly id?: string }

export function verdict(drafts: readonly Draft[], tool: string, input: Record<string, unknown>): Verdict {
  return evaluate({ rules: numbered(drafts), relayAutoApproval: false }, { tool, input }, CONTEXT)
}

export function numbered(drafts: readonly Draft[]): Rule[] {
  return drafts.map((draft, index) => ({ id: `r${index + 1}`, ...draft }))
}

export function bash(drafts: readonly Draft[], command: string): Verdict["effect"] {
  return verdict(drafts, "Bash", { command }).effect
}

export const allowing = (command: string | string[]): Draft => ({ effect: "allow", tool: "Bash", input: { command } })
export const denying = (command: string | string[]): Draft => ({ effect: "deny", tool: "Bash", input: { command } })
