import { resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { Checkpoints, diskFiles, type Files, memoryFiles } from "./files.ts"
import { planInput } from "./own-tools.ts"
import type { Tool, ToolOutcome, ToolRun } from "./tool.ts"
import type { ToolSet } from "./tool-set.ts"

/** `pretend`: no command runs and no file is touched. `real`: small versions of the tools do what they are asked. */
export type ToolMode = "pretend" | "real"

const FILE_TOOLS = new Set(["Read", "Write", "Edit"])

/** What an agent's tools work on; and, once a turn has begun, the tools. */
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

  /** What is wrong with a call, before anyone is asked. */
  check(run: ToolRun): string | undefined {
    return this.#loaded().check(run)
  }

  run(run: ToolRun): Promise<ToolOutcome> {
    return this.#loaded().run(run)
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

  #loaded(): ToolSet {
    if (this.#set === undefined) throw new Error("the tools are not loaded: await load() before the turn")
    return this.#set
  }
}
