import { isAtLeast } from "@signalbox/protocol/compose"
import { isObject } from "@signalbox/protocol/envelope"
import { DEFAULT_MODE, LISTED_PROMPT, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import { ENFORCES_SINCE, type LaunchSpec, UNHOOKING_VARIABLES } from "@signalbox/protocol/runner-wire"
import { type ClaudeFlags, claudeArguments, launchFlags } from "@signalbox/transport/process"
import { Refusal } from "../errors.ts"
import { MANAGED_SETTINGS, managedUnhooking } from "./managed-settings.ts"

/** It becomes the name of a folder and a part of an address. */
const SPAWN = /^[A-Za-z0-9_-]{1,100}$/
const TEXTS = ["cwd", "model", "permissionMode", "resume", "resumeAt"] as const
/** Bound on a whole command line; the operating systems' own bounds are close to it. */
const MAX_CHARS = 100_000

/** The hub's request for a launch, looked at before anything is started with it. */
export function checkLaunchSpec(value: unknown): LaunchSpec {
  if (!isObject(value)) throw invalid("a launch is an object")
  if (typeof value["spawn"] !== "string" || !SPAWN.test(value["spawn"])) throw invalid("spawn is not an id")
  if (typeof value["session"] !== "string" || value["session"] === "") throw invalid("session is missing")
  if (!isAgent(value["agent"])) throw invalid('agent is "claude", "simulator" or { command: [executable, …] }')
  for (const name of TEXTS) {
    const text = value[name]
    if (text !== undefined && (typeof text !== "string" || text === "" || text.includes("\0"))) {
      throw invalid(`${name} is not a text`)
    }
  }
  if (value["args"] !== undefined && !isTexts(value["args"])) throw invalid("args is not a list of texts")
  if (value["env"] !== undefined && !isEnvironment(value["env"])) throw invalid("env is not an object of texts")
  if (value["options"] !== undefined && !isObject(value["options"])) throw invalid("options is not an object")
  if (value["enforce"] !== undefined && value["enforce"] !== true) throw invalid("enforce is true or left out")
  if (value["initializes"] !== undefined && !isTexts(value["initializes"])) {
    throw invalid("initializes is not a list of texts")
  }
  if (JSON.stringify(value).length > MAX_CHARS) throw invalid(`it is longer than ${MAX_CHARS} characters`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field that is used as a text or a list was looked at
  return value as unknown as LaunchSpec
}

function isAgent(agent: unknown): boolean {
  if (agent === "claude" || agent === "simulator") return true
  return isObject(agent) && isTexts(agent["command"]) && agent["command"].length > 0
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && !item.includes("\0"))
}

function isEnvironment(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).every(
    ([name, text]) => /^[^=\0]+$/.test(name) && typeof text === "string" && !text.includes("\0"),
  )
}

function invalid(what: string): Refusal {
  return new Refusal("runner/invalid", `the launch cannot be done: ${what}`)
}

/** The first versions seen to know a flag; older ones end with an error at it. */
const SINCE = {
  replayUserMessages: "1.0.86",
  includePartialMessages: "1.0.109",
  allowBypass: "2.0.77",
  enableAuthStatus: "2.0.77",
  includeHookEvents: "2.1.100",
} as const

/** The first versions seen to take an option. One with a newer part, such as a list of prompts, has its own name here. */
const OPTIONS_SINCE: Readonly<Record<string, string>> = {
  systemPrompt: "2.0.77",
  [LISTED_PROMPT]: "2.1.325",
  appendSystemPrompt: "2.0.77",
  agents: "2.0.77",
  outputFormat: "2.0.77",
  maxBudgetUsd: "2.0.77",
  betas: "2.0.77",
  settingSources: "1.0.128",
  effort: "2.1.45",
  thinking: "2.1.52",
  "thinking.budgetTokens": "2.0.77",
  "thinking.display": "2.1.100",
}

/**
 * Hooks of the machine's or the project's settings may rewrite a call after the policy has judged it; the hub's own hook stays.
 * The variables could also come from the user's settings, over which these win.
 */
const ONLY_OUR_HOOK = { disableAllHooks: true, env: Object.fromEntries(UNHOOKING_VARIABLES.map((name) => [name, "0"])) }
export const NO_OTHER_HOOKS = ["--settings", JSON.stringify(ONLY_OUR_HOOK)] as const
/** They would undo that, leave every hook out, or end the options. */
const UNDOES_ENFORCE = /^--(?:(?:settings|bare|safe-mode)(?:=|$)|$)/

function requireEnforcing(
  { agent, args = [], env = {} }: LaunchSpec,
  version: string | undefined,
  managedFolder: string,
): void {
  const undoing = args.find((word) => UNDOES_ENFORCE.test(word))
  const unhooking = UNHOOKING_VARIABLES.find((name) => env[name] !== undefined)
  const has = version === undefined ? `the version of ${JSON.stringify(agent)} is not known` : `this is ${version}`
  const isNew = version !== undefined && isAtLeast(version, ENFORCES_SINCE)
  const managed = managedUnhooking(managedFolder)
  const ofEnv = unhooking && `env has ${unhooking}`
  const ofMachine = managed && `this machine's managed settings (${managedFolder}) have ${managed}`
  const undone = undoing === undefined ? (ofEnv ?? ofMachine) : `args has ${undoing}`
  const why = isNew ? undone : `it needs claude ${ENFORCES_SINCE} or newer, and ${has}`
  if (why === undefined) return
  const otherwise = 'change that, or let an admin start the session with enforce "asked"'
  throw new Refusal(
    "policy/cannot-enforce",
    `the policy cannot judge every tool call of this agent: ${why}; ${otherwise}`,
  )
}

/** Throws the name of what this version would not know, or would silently leave out. */
function requireKnown({ options = {}, initializes = [] }: LaunchSpec, version: string): void {
  const { thinking, ...others } = options
  const ofThinking = thinking && [
    thinking.type === "enabled" && thinking.budgetTokens !== undefined ? "thinking.budgetTokens" : "thinking",
    ...(thinking.display === undefined ? [] : ["thinking.display"]),
  ]
  for (const name of [...Object.keys(others), ...(ofThinking ?? []), ...initializes]) {
    const since = OPTIONS_SINCE[name]
    if (since === undefined || isAtLeast(version, since)) continue
    throw new Refusal(
      "runner/invalid",
      `${name} needs claude ${since} or newer, and this machine has ${version}: leave it out, or update claude`,
    )
  }
}

/** The arguments of an agent that a runner starts. A version that is not known is taken for a new one. */
export function launchArguments(
  spec: LaunchSpec,
  version: string | undefined,
  managedFolder = MANAGED_SETTINGS,
): string[] {
  const knows = (since: string) => version === undefined || isAtLeast(version, since)
  if (version !== undefined) requireKnown(spec, version)
  if (spec.enforce === true) requireEnforcing(spec, version, managedFolder)
  const isFork = spec.resume !== undefined && spec.fork === true
  const flags: ClaudeFlags = {
    ...launchFlags(spec.options ?? {}),
    print: true,
    permissionPromptTool: "stdio",
    includePartialMessages: knows(SINCE.includePartialMessages),
    replayUserMessages: knows(SINCE.replayUserMessages),
    includeHookEvents: knows(SINCE.includeHookEvents),
    enableAuthStatus: knows(SINCE.enableAuthStatus),
    model: spec.model,
    // Always said: which mode a CLI takes by itself differs between versions.
    permissionMode: spec.permissionMode === MACHINE_MODE ? undefined : (spec.permissionMode ?? DEFAULT_MODE),
    // Asked for by name and never otherwise: with it a later switch into that mode is possible.
    allowDangerouslySkipPermissions: spec.permissionMode === "bypassPermissions" && knows(SINCE.allowBypass),
    resume: spec.resume,
    forkSession: isFork,
    resumeSessionAt: isFork ? spec.resumeAt : undefined,
  }
  return [...claudeArguments(flags), ...(spec.args ?? [])]
}
