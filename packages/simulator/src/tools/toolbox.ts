import { resolve } from "node:path"
import { textOf } from "@signalbox/protocol"
import { runSubagent } from "../agent/subagent.ts"
import type { Fields } from "../profiles/profile.ts"
import { wholeText } from "../scenario/text.ts"
import { bashTool, pretendShell, realShell } from "./bash-tool.ts"
import { Checkpoints } from "./checkpoints.ts"
import { fileTools } from "./file-tools.ts"
import { diskFiles, type Files, memoryFiles } from "./files.ts"
import { ownTools, planInput } from "./own-tools.ts"
import { type Tool, type ToolOutcome, type ToolRun, toolFailure } from "./tool.ts"

/** `pretend`: no command runs and no file is touched. `real`: small versions of the tools do what they are asked. */
export type ToolMode = "pretend" | "real"

/** A CLI's names for the tool that starts a sub-agent. */
const AGENT_TOOLS = new Set(["Task", "Agent"])
const FILE_TOOLS = new Set(["Read", "Write", "Edit"])

export class Toolbox {
  readonly files: Files
  readonly checkpoints: Checkpoints
  readonly #tools: Readonly<Record<string, Tool>>
  readonly mode: ToolMode

  constructor(mode: ToolMode) {
    this.mode = mode
    this.files = mode === "real" ? diskFiles() : memoryFiles()
    this.checkpoints = new Checkpoints(this.files)
    const shell = mode === "real" ? realShell : pretendShell
    this.#tools = {
      ...fileTools(this.files, this.checkpoints),
      ...ownTools(this.files),
      Bash: bashTool(shell),
      Task: { run: runSubagent },
      Agent: { run: runSubagent },
    }
  }

  /** What is wrong with a call, before anyone is asked. Where the scenario says the result, nothing is. */
  check(run: ToolRun): string | undefined {
    if (run.step?.result !== undefined) return undefined
    return this.#tools[run.name]?.check?.(run)
  }

  async run(run: ToolRun): Promise<ToolOutcome> {
    const { step } = run
    if (step?.durationMs !== undefined) await run.core.clock.pause(step.durationMs, run.signal)
    const isScripted = step?.result !== undefined && !AGENT_TOOLS.has(run.name) && step.background === undefined
    if (isScripted) return scriptedOutcome(run)
    const tool = this.#tools[run.name]
    if (tool !== undefined) return tool.run(run)
    return { content: "Done.", structured: "Done." }
  }

  /** The input as hooks and denials tell it: newer generations write whole paths. */
  wholeInput({ core, input, name }: Pick<ToolRun, "core" | "input" | "name">): Fields {
    const path = textOf(input, "file_path")
    const isWhole = FILE_TOOLS.has(name) && path !== undefined && core.profile.generation >= 120
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
}

/** What the scenario says the tool gave. */
function scriptedOutcome({ core, name, input, step }: ToolRun): ToolOutcome {
  const result = step?.result ?? ""
  const content = Array.isArray(result) ? result : wholeText(result)
  if (step?.isError === true) {
    const failure = toolFailure(typeof content === "string" ? content : JSON.stringify(content))
    return step.structured === undefined ? failure : { ...failure, structured: step.structured }
  }
  const text = typeof content === "string" ? content : ""
  const isBash = name === "Bash"
  const base = { stdout: text, stderr: "", interrupted: false, isImage: false }
  const bash = core.profile.generation === 37 ? base : { ...base, noOutputExpected: false }
  const structured = step?.structured ?? (isBash ? bash : structuredOf(name, input, content))
  return { content, structured, ...(isBash ? { isError: false } : {}) }
}

/** A scripted result in the form its tool gives it, where that says more than the text. */
function structuredOf(name: string, input: Readonly<Fields>, content: string | readonly unknown[]): unknown {
  if (name !== "Read" || typeof content !== "string") return content
  const lines = content.split("\n").length
  const filePath = textOf(input, "file_path") ?? ""
  return { type: "text", file: { filePath, content, numLines: lines, startLine: 1, totalLines: lines } }
}
