import { textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { wholeText } from "../scenario/reply-events.ts"
import { bashTool, commandResult, pretendShell, realShell } from "./bash-tool.ts"
import { fileTools } from "./file-tools.ts"
import { ownTools, resourceTools, skillTool } from "./own-tools.ts"
import { type Tool, type Toolbox, type ToolOutcome, type ToolRun, toolFailure } from "./toolbox.ts"

/** A CLI's names for the tool that starts a sub-agent. */
const AGENT_TOOLS = new Set(["Task", "Agent"])

/** The tools of one agent. */
export class ToolSet {
  readonly #tools: Readonly<Record<string, Tool>>

  /** `agentTool` starts a sub-agent. */
  constructor({ files, checkpoints, mode }: Pick<Toolbox, "files" | "checkpoints" | "mode">, agentTool: Tool) {
    this.#tools = {
      ...fileTools(files, checkpoints),
      ...ownTools(files),
      ...resourceTools,
      Skill: skillTool,
      Bash: bashTool(mode === "real" ? realShell : pretendShell),
      Task: agentTool,
      Agent: agentTool,
    }
  }

  /** The mistake in a call, found before anyone is asked. A call whose result the scenario says has none. */
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
}

/** The tool's outcome, as the scenario says it. */
function scriptedOutcome({ core, name, input, step }: ToolRun): ToolOutcome {
  const result = step?.result ?? ""
  const content = Array.isArray(result) ? result : wholeText(result)
  if (step?.isError === true) {
    const failure = toolFailure(typeof content === "string" ? content : JSON.stringify(content))
    return step.structured === undefined ? failure : { ...failure, structured: step.structured }
  }
  const text = typeof content === "string" ? content : ""
  const isBash = name === "Bash"
  const own = () => (isBash ? commandResult(core, { stdout: text, stderr: "" }) : structuredOf(name, input, content))
  const structured = step?.structured ?? own()
  return { content, structured, ...(isBash ? { isError: false } : {}) }
}

/** A scripted result in the form its tool gives it, where that says more than the text. */
function structuredOf(name: string, input: Readonly<Fields>, content: string | readonly unknown[]): unknown {
  if (name !== "Read" || typeof content !== "string") return content
  const lines = content.split("\n").length
  const filePath = textOf(input, "file_path") ?? ""
  return { type: "text", file: { filePath, content, numLines: lines, startLine: 1, totalLines: lines } }
}
