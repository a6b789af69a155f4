import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { pretendShell, realShell } from "../tools/bash-tool.ts"
import type { AgentCore } from "./core.ts"

/** Commands that the settings run when a session starts. Their course is told, to whoever asked for it. */
export async function runStartHooks(core: AgentCore, source: string, signal: AbortSignal): Promise<void> {
  const commands = startCommands(core)
  const tells = core.profile.generation < 325 || core.launch.includeHookEvents
  const shell = core.toolbox.mode === "real" ? realShell : pretendShell
  for (const command of commands) {
    const name = { hook_id: core.random.uuid(), hook_name: `SessionStart:${source}`, hook_event: "SessionStart" }
    if (tells) core.wire.system("hook_started", name, "uuid")
    const { stdout, stderr, exitCode } = await shell(command, { cwd: core.launch.cwd, signal })
    const outcome = exitCode === 0 ? "success" : "error"
    const output = `${stdout}${stderr}`
    if (tells)
      core.wire.system("hook_response", { ...name, output, stdout, stderr, exit_code: exitCode, outcome }, "uuid")
  }
}

function startCommands(core: AgentCore): string[] {
  const matchers = fieldOf(core.launch.settings, "hooks")?.["SessionStart"]
  if (!Array.isArray(matchers)) return []
  return matchers.filter(isObject).flatMap((matcher) => {
    const hooks = matcher["hooks"]
    return Array.isArray(hooks) ? hooks.flatMap((hook) => textOf(hook, "command") ?? []) : []
  })
}
