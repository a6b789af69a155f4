import { parseObject } from "./envelope.ts"
import type { SessionExit } from "./hub-api/session.ts"
import type { LaunchOptions } from "./launch-options.ts"

/**
 * The wire between a runner and a hub, about machines and processes. A runner holds one control connection, and one
 * connection for each agent. These are our own messages, so their fields are camelCase.
 */

/** The program to run: the machine's `claude`, the simulator that comes with us, or an executable with its leading arguments. */
export type LaunchAgent = "claude" | "simulator" | { readonly command: readonly string[] }

export interface LaunchSpec {
  /** Names the process for ever; the hub chose it, so that asking again starts no second one. */
  readonly spawn: string
  /** The hub's session. */
  readonly session: string
  readonly agent: LaunchAgent
  readonly cwd?: string
  readonly model?: string
  readonly permissionMode?: string
  /** The CLI's own id of the conversation to go on with. */
  readonly resume?: string
  readonly fork?: boolean
  /** With `fork`: the agent's message, by its `uuid`, after which the conversation is cut. */
  readonly resumeAt?: string
  readonly worktree?: boolean | { readonly branch?: string }
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The options that become flags. */
  readonly options?: LaunchOptions
  /** The names of options that the hub sends in its first `initialize`: a version that cannot take one is refused. */
  readonly initializes?: readonly string[]
  /** The hub decides about every tool call: what it does not decide is held for the next hub, and denied in the end. */
  readonly enforce?: true
}

/** How long an agent waits for the hub's word on a tool call. The runner denies the call a little earlier. */
export const ENFORCED_HOOK_MS = 600_000

/** The hook that is called before each tool. */
export const TOOL_EVENT = "PreToolUse"
const HUB_CALLBACK = "hub-hook:"

/** The hub's own id of the callback for an event. */
export function callbackOf(event: string): string {
  return `${HUB_CALLBACK}${event}`
}

/** The event that a callback of the agent's is for; undefined when the hub did not register it. */
export function eventOfCallback(callbackId: string | undefined): string | undefined {
  return callbackId?.startsWith(HUB_CALLBACK) === true ? callbackId.slice(HUB_CALLBACK.length) : undefined
}

/** Older versions of Claude Code run a tool whose hook nobody answers in time. */
export const ENFORCES_SINCE = "2.1.200"

/** Variables with which Claude Code leaves hooks out. The first leaves out the hub's too; the others do not on 2.1.200 to 2.1.325. */
export const UNHOOKING_VARIABLES = ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_RESTRICTED"] as const

export interface Launched {
  readonly spawn: string
  readonly pid: number
  readonly cwd: string
  readonly cliVersion?: string
  readonly worktree?: { readonly path: string; readonly branch: string }
}

/** Why a process is over. `parked`: the governor put an idle one to rest; the next message brings it back. */
export interface AgentExit extends Omit<SessionExit, "at"> {
  readonly stderrTail?: string
  readonly parked?: boolean
  /** User messages, by `uuid`, that the runner was given and the process never was: they may go to the next one. */
  readonly undelivered?: readonly string[]
  /**
   * The `uuid` of the last user message that the runner was given for this process, not counting those given again; null when
   * there was none. What the hub sent after it never arrived, and may go to the next process too. Older runners do not tell.
   */
  readonly lastReceived?: string | null
}

/** A runner's own news in its agent's stream, in its place among the agent's lines. */
export type RunnerNote =
  | { readonly kind: "exited"; readonly exit: AgentExit }
  /** The hub was away when the agent called a hook, and the runner answered for it. */
  | {
      readonly kind: "hook-answered"
      readonly requestId: string
      readonly how: "open" | "block"
      /** The tool call that was denied because no hub judged it in time. */
      readonly denied?: DeniedCall
    }
  /** The branch that the agent's folder is on from here on; empty when it is on none, null when it cannot be told. */
  | { readonly kind: "branch"; readonly branch: string | null }
  /** The uncommitted changes in the agent's folder; null when they cannot be told. */
  | { readonly kind: "changes"; readonly changes: FolderChanges | null }

/** A tool call, as its hook names it. */
export interface DeniedCall {
  readonly toolName?: string | undefined
  readonly toolUseId?: string | undefined
}

/** Changed and new files, and lines of the changed ones. */
export interface FolderChanges {
  readonly files: number
  readonly added: number
  readonly removed: number
}

export interface RunnerFacts {
  /** Stable over restarts of the same runner. */
  readonly id: string
  readonly name: string
  readonly labels: readonly string[]
  readonly version: string
  readonly host: string
  readonly platform: string
  readonly maxAgents: number
  readonly claude: readonly { readonly path: string; readonly version: string }[]
  readonly hasSimulator: boolean
  /** Takes `options` and `initializes` of a launch. Older runners do not, and would start an agent without them. */
  readonly takesOptions?: boolean
  /** Takes `enforce` of a launch. Older runners would answer for a hub that is away, and let the tool run. */
  readonly enforces?: boolean
  /** The home directory of whom the runner runs as. Older runners do not tell. */
  readonly home?: string
  /** Why there is no `claude`. */
  readonly claudeProblem?: string
  /** How its agents would sign in; null: no way was found. Absent when it cannot tell, as older runners do not. */
  readonly signIn?: string | null
}

export interface AgentUsage {
  readonly spawn: string
  readonly session: string
  readonly pid: number
  readonly memoryBytes: number
  /** Per cent of one core. */
  readonly cpuPercent: number
}

export type RunnerToHub =
  /** First on the control connection. `cut`: processes that ended without a word when an earlier runner died. */
  | {
      readonly op: "hello"
      readonly runner: RunnerFacts
      readonly agents: readonly AgentUsage[]
      readonly cut: readonly { readonly spawn: string; readonly session: string; readonly reason: string }[]
    }
  | {
      readonly op: "stats"
      readonly memoryBytes: number
      readonly freeMemoryBytes: number
      readonly loadAverage: number
      /** As in the facts, as it is now. */
      readonly signIn?: string | null
      readonly agents: readonly AgentUsage[]
    }
  | { readonly op: "reply"; readonly id: string; readonly result: unknown }
  | { readonly op: "refused"; readonly id: string; readonly code: RunnerRefusal; readonly message: string }

export type RunnerRequest =
  | { readonly kind: "launch"; readonly spec: LaunchSpec }
  | { readonly kind: "stop"; readonly spawn: string; readonly reason: string }
  | { readonly kind: "folders"; readonly path?: string }
  /** `env`: of the launch that goes on with one of them. It may keep its conversations elsewhere. */
  | { readonly kind: "sessions"; readonly cwd?: string; readonly env?: Readonly<Record<string, string>> }
  | { readonly kind: "remove-worktree"; readonly path: string }
  /** The last lines of the runner's own log. */
  | { readonly kind: "log"; readonly lines?: number }

export type HubToRunner =
  | { readonly ev: "welcome"; readonly hub: string }
  | { readonly ev: "request"; readonly id: string; readonly request: RunnerRequest }
  /** These cut processes are noted: they need not be told again. */
  | { readonly ev: "noted"; readonly spawns: readonly string[] }

export type RunnerRefusal =
  | "runner/no-claude"
  | "runner/no-folder"
  | "runner/no-transcript"
  | "runner/session-in-use"
  | "runner/full"
  | "runner/worktree"
  | "runner/spawn-failed"
  | "runner/unknown-agent"
  | "runner/invalid"
  | "policy/cannot-enforce"

/** A runner's facts about its machine travel as the hub passes them on. */
export type { RecordedSession, RunnerFolders, RunnerLog, RunnerLogLine } from "./hub-api/runner.ts"

/**
 * The connection of one agent on a runner. Every line of the agent and every note of the runner has a number, dense from 1 for
 * the life of the process; the runner keeps each until the hub acknowledged it, and sends what is not acknowledged again after
 * a reconnect. The agent's lines travel as they are, behind their number.
 *
 *   runner to hub   `{"op":"attach",…}` first, then `L17 {"type":…}` and `N18 {"kind":"exited",…}`
 *   hub to runner   `A17` (all up to 17 are durable), `L{"type":…}` (for the agent's stdin), `C{"ev":…}`
 *
 * One message of the WebSocket may carry several of these, each on a line of its own.
 */
export interface AttachAgent {
  readonly op: "attach"
  readonly spawn: string
  readonly session: string
  readonly pid: number
  readonly startedAt: string
  /** The first number that is still kept. */
  readonly first: number
  /** As in the note of this name. Older runners do not tell. */
  readonly branch?: string | null
  /** The process has ended: only what it left is still to come, and nothing can be said to it. */
  readonly isOver?: boolean
}

export type AgentCommand =
  /** The answers to each hook's callback while the hub is away. */
  | { readonly ev: "hooks"; readonly onFailure: Readonly<Record<string, "open" | "block">> }
  /**
   * The greeting, first on the connection. `epoch`: the hub has the session that `attach` named under this number, and each hub that
   * claims it after this one has a higher number. A hub alone has none, and older hubs do not tell.
   */
  | { readonly ev: "attached"; readonly epoch?: number }

export type FromRunner =
  | { readonly kind: "line"; readonly number: number; readonly line: string }
  | { readonly kind: "note"; readonly number: number; readonly note: RunnerNote }

export type FromHub =
  | { readonly kind: "ack"; readonly number: number }
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "command"; readonly command: AgentCommand }

export function encodeAgentLine(number: number, line: string): string {
  return `L${number} ${line}`
}

export function encodeNote(number: number, note: RunnerNote): string {
  return `N${number} ${JSON.stringify(note)}`
}

/** Undefined: not what a runner says here. */
export function readFromRunner(text: string): FromRunner | undefined {
  const space = text.indexOf(" ")
  if (space < 2) return undefined
  const number = Number(text.slice(1, space))
  if (!Number.isSafeInteger(number) || number < 1) return undefined
  const rest = text.slice(space + 1)
  if (text[0] === "L") return { kind: "line", number, line: rest }
  if (text[0] !== "N") return undefined
  const note = parseObject(rest)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own runner wrote it; its shape is checked where it is used
  return note === undefined ? undefined : { kind: "note", number, note: note as unknown as RunnerNote }
}

export function encodeAck(number: number): string {
  return `A${number}`
}

export function encodeLineForAgent(line: string): string {
  return `L${line}`
}

export function encodeCommand(command: AgentCommand): string {
  return `C${JSON.stringify(command)}`
}

export function readFromHub(text: string): FromHub | undefined {
  const rest = text.slice(1)
  switch (text.charAt(0)) {
    case "A": {
      const number = Number(rest)
      return Number.isSafeInteger(number) && number >= 0 && rest !== "" ? { kind: "ack", number } : undefined
    }
    case "L":
      return { kind: "line", line: rest }
    case "C": {
      const command = parseObject(rest)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own hub wrote it
      return command === undefined ? undefined : { kind: "command", command: command as unknown as AgentCommand }
    }
    default:
      return undefined
  }
}

/** The number of a line or note as it travels: `L17 {…}`. */
export function frameNumber(frame: string): number {
  return Number(frame.slice(1, frame.indexOf(" ")))
}
