import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { matchesRule, parseRule, type Rule, readRule } from "./rules.ts"

export type Behavior = "allow" | "deny" | "ask"

/** What decides without asking. Moved only by `applyUpdates` and `setMode`. */
export interface PermissionState {
  readonly mode: string
  /** The mode that leaving plan mode goes back to. */
  readonly modeBeforePlan: string
  readonly rules: Readonly<Record<Behavior, readonly SourcedRule[]>>
  readonly directories: readonly string[]
}

export interface SourcedRule extends Rule {
  readonly source: string
}

export function initialPermissions(options: {
  mode: string
  allowed: readonly string[]
  disallowed: readonly string[]
  directories: readonly string[]
  settings: readonly { source: string; settings: Readonly<Fields> }[]
}): PermissionState {
  const fromArguments = (texts: readonly string[]) => texts.map((text) => ({ ...parseRule(text), source: "cliArg" }))
  const fromSettings = (key: string) =>
    options.settings.flatMap(({ source, settings }) =>
      textsOf(fieldOf(settings, "permissions")?.[key]).map((text) => ({ ...parseRule(text), source })),
    )
  return {
    mode: options.mode,
    modeBeforePlan: options.mode === "plan" ? "default" : options.mode,
    rules: {
      allow: [...fromArguments(options.allowed), ...fromSettings("allow")],
      deny: [...fromArguments(options.disallowed), ...fromSettings("deny")],
      ask: fromSettings("ask"),
    },
    directories: options.directories,
  }
}

export function setMode(state: PermissionState, mode: string): PermissionState {
  const modeBeforePlan = mode === "plan" && state.mode !== "plan" ? state.mode : state.modeBeforePlan
  return { ...state, mode, modeBeforePlan }
}

export function findRule(
  state: PermissionState,
  behavior: Behavior,
  toolName: string,
  input: Readonly<Fields>,
): SourcedRule | undefined {
  return state.rules[behavior].find((rule) => matchesRule(rule, toolName, input))
}

/** The state after what a host sent in `updatedPermissions`. What makes no sense changes nothing. */
export function applyUpdates(
  state: PermissionState,
  updates: unknown,
  isActive: (destination: string) => boolean = () => true,
): PermissionState {
  if (!Array.isArray(updates)) return state
  return updates
    .filter(isObject)
    .filter((update) => isActive(textOf(update, "destination") ?? "session"))
    .reduce<PermissionState>(applyUpdate, state)
}

function applyUpdate(state: PermissionState, update: Readonly<Fields>): PermissionState {
  switch (update["type"]) {
    case "setMode":
      return setMode(state, textOf(update, "mode") ?? state.mode)
    case "addDirectories":
      return { ...state, directories: [...new Set([...state.directories, ...textsOf(update["directories"])])] }
    case "removeDirectories": {
      const removed = textsOf(update["directories"])
      return { ...state, directories: state.directories.filter((directory) => !removed.includes(directory)) }
    }
    case "addRules":
    case "replaceRules":
    case "removeRules":
      return { ...state, rules: changeRules(state.rules, update) }
    default:
      return state
  }
}

function changeRules(rules: PermissionState["rules"], update: Readonly<Fields>): PermissionState["rules"] {
  const behavior = behaviorOf(update["behavior"])
  if (behavior === undefined) return rules
  const source = textOf(update, "destination") ?? "session"
  const named = (Array.isArray(update["rules"]) ? update["rules"] : []).flatMap((rule) => readRule(rule) ?? [])
  const sourced = named.map((rule) => ({ ...rule, source }))
  const isNamed = (rule: SourcedRule) => named.some((other) => isSame(rule, other)) && rule.source === source
  const before = rules[behavior]
  const kept = update["type"] === "replaceRules" ? before.filter((rule) => rule.source !== source) : before
  const without = kept.filter((rule) => !isNamed(rule))
  return { ...rules, [behavior]: update["type"] === "removeRules" ? without : [...without, ...sourced] }
}

function behaviorOf(value: unknown): Behavior | undefined {
  return value === "allow" || value === "deny" || value === "ask" ? value : undefined
}

function isSame(a: Rule, b: Rule): boolean {
  return a.toolName === b.toolName && a.ruleContent === b.ruleContent
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
}
