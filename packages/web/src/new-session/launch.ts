import type { LaunchRequest } from "@signalbox/client"
import { DEFAULT_MODE, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import { BYPASS, modeChoices, modeWords } from "../agent/session-choices.ts"
import type { ModeRights } from "../app/hub-context.ts"
import type { Choice } from "../design/field.tsx"
import type { Machine } from "../fleet/machine-store.tsx"

/** The word that confirms it. */
export const BYPASS_WORD = "bypass"

/** The form's fields. An empty one is left to the hub, or to the machine. */
export interface LaunchFields {
  readonly agent: AgentChoice["value"] | undefined
  readonly machine: string | undefined
  readonly cwd: string
  readonly prompt: string
  readonly title: string
  readonly model: string
  readonly effort: string
  readonly mode: string
  /** In a git worktree of its own. */
  readonly worktree: boolean
  readonly confirmation: string
  readonly resume: string | undefined
  readonly isFork: boolean
  /** The message of the agent that a fork begins after. */
  readonly resumeAt: string | undefined
  /** An admin's: they become arguments of the CLI. */
  readonly budget: string
  readonly directories: string
  readonly allowed: string
  readonly disallowed: string
  /** An admin's, for this session in the place of the policy's. */
  readonly enforce: string
}

export interface FieldProblem {
  readonly field: "cwd" | "confirmation" | "budget"
  readonly why: string
}

export const NOT_WHOLE = "Enter a full path, starting with / or ~/."

/** Empty is what the hub does when no mode is named: a session keeps its mode, a new one asks. */
export function launchModes(isResuming: boolean, rights: ModeRights): readonly Choice[] {
  const modes = modeChoices(null, rights)
  const unnamed = { value: "", label: isResuming ? "Keep current mode" : modeWords(DEFAULT_MODE) }
  return [
    unnamed,
    ...(isResuming ? modes : modes.filter(({ value }) => value !== DEFAULT_MODE)),
    ...(rights.isAdmin ? [{ value: MACHINE_MODE, label: "Machine default" }] : []),
  ]
}

/** How hard the model tries. Empty is what the machine's settings say; CLIs before 2.1.45 leave it there. */
export const EFFORTS: readonly Choice[] = [
  { value: "", label: "Default effort" },
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
  { value: "max", label: "Max" },
]

/** Names that every CLI knows, then those of the sessions before. Any other can be typed. */
export function modelNames(sessions: Iterable<{ readonly model: string | null }>): readonly string[] {
  const used = [...sessions].flatMap(({ model }) => model ?? [])
  return [...new Set(["opus", "sonnet", "haiku", ...used])].slice(0, MAX_MODELS)
}

const MAX_MODELS = 12

/** The policy's reach for a session. Empty is what the policy itself says; an external agent cannot be made to wait for it. */
export function enforceChoices(isHere: boolean): readonly Choice[] {
  return [
    { value: "", label: "As the policy says" },
    ...(isHere ? [{ value: "everything", label: "Every tool call" }] : []),
    { value: "asked", label: "What the agent asks about" },
  ]
}

/** On whichever system the machine has. */
export function isWholePath(path: string): boolean {
  return /^(?:[/\\]|~(?:[/\\]|$)|[A-Za-z]:[/\\])/.test(path)
}

/** The first thing that somebody has to mend before it can be sent. */
export function problemOf(fields: LaunchFields): FieldProblem | undefined {
  if (fields.agent === "external") return undefined
  if (fields.cwd === "" && fields.resume === undefined) return { field: "cwd", why: "Choose a folder." }
  if (fields.cwd !== "" && !isWholePath(fields.cwd)) return { field: "cwd", why: NOT_WHOLE }
  if (fields.mode === BYPASS && fields.confirmation !== BYPASS_WORD)
    return { field: "confirmation", why: `Type “${BYPASS_WORD}” to confirm.` }
  if (fields.budget !== "" && !(Number(fields.budget) > 0))
    return { field: "budget", why: "Enter an amount, such as 2.50." }
  return undefined
}

export function requestOf(fields: LaunchFields): LaunchRequest {
  const { agent, machine, cwd, prompt, title, model, effort, mode, worktree, resume, isFork, resumeAt } = fields
  const enforce = (["asked", "everything"] as const).find((one) => one === fields.enforce)
  const said = {
    ...(agent === undefined ? {} : { agent }),
    ...(prompt === "" ? {} : { prompt }),
    ...(title === "" ? {} : { title }),
    ...(enforce === undefined ? {} : { enforce }),
  }
  if (agent === "external") return said
  const args = argumentsOf(fields)
  return {
    ...said,
    ...(cwd === "" ? {} : { cwd }),
    ...(model === "" ? {} : { model }),
    ...(effort === "" ? {} : { effort }),
    ...(worktree && (resume === undefined || isFork) ? { worktree } : {}),
    ...(mode === "" ? {} : { permissionMode: mode }),
    ...(machine === undefined ? {} : { runner: machine }),
    ...(resume === undefined ? {} : { resume }),
    ...(resume === undefined || !isFork ? {} : { fork: true, ...(resumeAt === undefined ? {} : { resumeAt }) }),
    ...(args.length === 0 ? {} : { args }),
  }
}

/** One argument each, so that nothing typed here is taken for another flag. */
function argumentsOf({ budget, directories, allowed, disallowed }: LaunchFields): readonly string[] {
  return [
    ...(budget === "" ? [] : [`--max-budget-usd=${budget}`]),
    ...linesOf(directories).map((directory) => `--add-dir=${directory}`),
    ...(allowed === "" ? [] : [`--allowedTools=${linesOf(allowed).join(",")}`]),
    ...(disallowed === "" ? [] : [`--disallowedTools=${linesOf(disallowed).join(",")}`]),
  ]
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
}

export interface AgentChoice {
  readonly value: "claude" | "simulator" | "external"
  readonly label: string
  readonly note: string
}

const CLAUDE: AgentChoice = { value: "claude", label: "Claude Code", note: "Runs on the chosen machine" }
const SIMULATOR: AgentChoice = {
  value: "simulator",
  label: "Simulator",
  note: "A scripted demo agent. No account needed.",
}
const EXTERNAL: AgentChoice = {
  value: "external",
  label: "External",
  note: "Run a command yourself. Claude Code up to 2.1.120.",
}

/** The agents that can be started there, the likeliest first: without a `claude`, the simulator. */
export function agentChoices(machine: Machine | undefined): readonly AgentChoice[] {
  if (machine === undefined) return [EXTERNAL]
  const hasClaude = machine.cliVersions.length > 0
  const simulator = machine.hasSimulator ? [SIMULATOR] : []
  return [...(hasClaude ? [CLAUDE] : []), ...simulator, ...(hasClaude ? [] : [CLAUDE]), EXTERNAL]
}

/** Why nothing can be started there now, or how much room it has. */
export function roomOf({ connected, draining, agents, maxAgents }: Machine): {
  readonly isFree: boolean
  readonly words: string
} {
  if (!connected) return { isFree: false, words: "offline" }
  if (draining) return { isFree: false, words: "draining" }
  if (maxAgents === 0) return { isFree: true, words: `${agents} running` }
  const free = Math.max(0, maxAgents - agents)
  return { isFree: free > 0, words: free === 0 ? `full, ${agents} running` : `${free} of ${maxAgents} free` }
}
