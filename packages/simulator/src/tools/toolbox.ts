import { resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
import type { McpServers } from "../mcp/servers.ts"
import type { PermissionState } from "../permissions/rules.ts"
import type { Fields } from "../profiles/profile.ts"
import type { ToolStep } from "../scenario/schema.ts"
import type { AgentBasics } from "../wire/wire.ts"
import { Checkpoints, diskFiles, type Files, memoryFiles } from "./files.ts"
import type { Tasks } from "./tasks.ts"
import type { ToolSet } from "./tool-set.ts"

/** `pretend`: no command runs and no file is touched. `real`: small versions of the tools do what they are asked. */
export type ToolMode = "pretend" | "real"

const FILE_TOOLS = new Set(["Read", "Write", "Edit"])

/** The files that an agent's tools work on; and, once a turn has begun, the tools. */
export class Toolbox {
  readonly mode: ToolMode
  readonly files: Files
  readonly checkpoints: Checkpoints
  #set: ToolSet | undefined

  constructor(mode: ToolMode) {
    this.mode = mode
    this.files = mode === "real" ? diskFiles() : memoryFiles()
    this.checkpoints = new Checkpoints(this.files)
  }

  /** To be awaited before a tool is called: an agent starts without its tools, and is there the sooner. */
  async load(agentTool: Tool): Promise<void> {
    if (this.#set !== undefined) return
    const { ToolSet } = await import("./tool-set.ts")
    this.#set ??= new ToolSet(this, agentTool)
  }

  /** The input as hooks and denials tell it: newer generations write whole paths. */
  wholeInput({ core, input, name }: Pick<ToolRun, "core" | "input" | "name">): Fields {
    const path = textOf(input, "file_path")
    const isWhole = FILE_TOOLS.has(name) && path !== undefined && core.profile.quirks.wholePaths
    return isWhole ? { ...input, file_path: resolve(core.launch.cwd, path) } : { ...input }
  }

  /** The input as a permission request shows it. */
  shownInput(run: Pick<ToolRun, "core" | "input" | "name">): Fields {
    if (run.name === "ExitPlanMode") return planInput(run, this.files)
    const input = this.wholeInput(run)
    if (run.name !== "Edit") return input
    const { replace_all = false, ...rest } = input
    return { ...rest, replace_all }
  }

  get tools(): ToolSet {
    if (this.#set === undefined) throw new Error("the tools are not loaded: await load() before the turn")
    return this.#set
  }
}

/** The agent, as far as its tools are concerned. */
export interface ToolOwner extends AgentBasics {
  readonly mcp: McpServers
  readonly tasks: Tasks
  readonly state: { permissions: PermissionState; readonly jsonSchema: Readonly<Fields> | undefined }
}

/** One call of a tool that may run. */
export interface ToolRun {
  readonly core: ToolOwner
  readonly name: string
  readonly input: Readonly<Fields>
  readonly toolUseId: string
  readonly signal: AbortSignal
  readonly step: ToolStep | undefined
  readonly parent: string | null
}

/** A result as the model gets to read it, and the tool's own form of it. */
export interface ToolOutcome {
  readonly content: string | readonly unknown[]
  /** Written on the result where the tool tells it; left out where it does not. */
  readonly isError?: boolean
  readonly structured: unknown
  /** The id stands at the end of the result's block: most tools begin with it. */
  readonly idLast?: boolean
  /** And where the kind of the block comes before both. */
  readonly typeFirst?: boolean
  /** Words for the model besides, in a message of their own. */
  readonly says?: string
  /** Runs when its hooks are done, right before the result is said. */
  readonly before?: () => void
  /** Runs after the result has been said. */
  readonly after?: () => Promise<void>
}

export interface Tool {
  /** The mistake in the call, found before anyone is asked. */
  check?(run: ToolRun): string | undefined
  run(run: ToolRun): Promise<ToolOutcome>
}

/** A failure as a tool tells it. */
export function toolFailure(message: string): ToolOutcome {
  return { content: message, isError: true, structured: `Error: ${message}` }
}

/** A call that is wrong in itself. */
export function callFailure(message: string, structured = `Error: ${message}`): ToolOutcome {
  return { content: `<tool_use_error>${message}</tool_use_error>`, isError: true, structured }
}

/** The plan is read from the plan file; what the model passes along counts only where there is none. */
function planInput({ core, input }: Pick<ToolRun, "core" | "input">, files: Files): Fields {
  const path = planFile(core)
  const written = files.read(path)
  if (written !== undefined)
    return core.profile.quirks.namesPlanFile ? { plan: written, planFilePath: path } : { plan: written }
  return core.profile.quirks.passedPlan === "dropped" ? {} : { ...input }
}

export function planFile(core: ToolRun["core"]): string {
  return `${core.launch.configDir}/plans/${core.wire.sessionId}.md`
}
