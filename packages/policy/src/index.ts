export { evaluate, policyRequestOf, type Verdict } from "./evaluate.ts"
export type { PolicyContext, PolicyRequest } from "./match-rule.ts"
export type { ParsedPolicy, Policy, Rule, RuleEffect } from "./schemas.ts"
export { type GrantOptions, rulesFromUpdate } from "./session-grant.ts"
