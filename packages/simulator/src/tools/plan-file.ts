import type { Fields } from "../profiles/profile.ts"
import type { Files } from "./files.ts"
import type { ToolRun } from "./tool.ts"

/** The plan is read from the plan file; what the model passes along counts only where there is none. */
export function planInput({ core, input }: Pick<ToolRun, "core" | "input">, files: Files): Fields {
  const path = planFile(core)
  const written = files.read(path)
  if (written !== undefined)
    return core.profile.generation === 37 ? { plan: written } : { plan: written, planFilePath: path }
  return core.profile.generation === 325 ? {} : { ...input }
}

export function planFile(core: ToolRun["core"]): string {
  return `${core.launch.configDir}/plans/${core.wire.sessionId}.md`
}
