import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import type { AgentCore } from "./core.ts"
import { isMeant } from "./hook-matcher.ts"

/** A hook of the settings: a command, and what it is run for. */
export interface CommandCall {
  readonly event: string
  readonly subject?: string
  /** What the command reads. */
  readonly input: Fields
  readonly signal?: AbortSignal
}

/** On the wish of a hook that said so by its exit code: every generation tells whose it is. */
export const BY_EXIT_CODE = "blockedByExitCode"

/** Commands that the settings run when a session starts. */
export async function runStartHooks(core: AgentCore, source: string, signal: AbortSignal): Promise<void> {
  const input = { hook_event_name: "SessionStart", source }
  await runCommandHooks(core, { event: "SessionStart", subject: source, input, signal })
}

/** Runs the settings' commands for an event, one after the other, and reads what they want. */
export async function runCommandHooks(core: AgentCore, call: CommandCall): Promise<Readonly<Fields>[]> {
  const outputs: Readonly<Fields>[] = []
  for (const command of commandsFor(core, call)) outputs.push(await runCommand(core, call, command))
  return outputs
}

/** Its course is told to whoever asked for it; older generations tell of the start of a session to everybody. */
async function runCommand(core: AgentCore, call: CommandCall, command: string): Promise<Readonly<Fields>> {
  const { event, subject, input } = call
  const isTold = core.launch.includeHookEvents || (core.profile.generation < 325 && event === "SessionStart")
  const hook_name = subject === undefined ? event : `${event}:${subject}`
  const name = { hook_id: core.random.uuid(), hook_name, hook_event: event }
  if (isTold) core.wire.system("hook_started", name, "uuid")
  const { signal = new AbortController().signal } = call
  const { pretendShell, realShell } = await import("../tools/shell.ts")
  const shell = core.toolbox.mode === "real" ? realShell : pretendShell
  const end = await shell(command, { cwd: core.launch.cwd, signal, stdin: JSON.stringify(input) })
  const { stdout, stderr, exitCode } = end
  const outcome = exitCode === 0 ? "success" : "error"
  const told = { output: `${stdout}${stderr}`, stdout, stderr, exit_code: exitCode, outcome }
  if (isTold) core.wire.system("hook_response", { ...name, ...told }, "uuid")
  return wishOf(command, end)
}

/** Exit code 2 blocks, with what was said on stderr; JSON on stdout says more. */
function wishOf(
  command: string,
  { stdout, stderr, exitCode }: { stdout: string; stderr: string; exitCode: number },
): Readonly<Fields> {
  if (exitCode === 2) return { decision: "block", reason: `[${command}]: ${stderr}`, [BY_EXIT_CODE]: true }
  if (exitCode !== 0 || !stdout.trimStart().startsWith("{")) return {}
  try {
    const value: unknown = JSON.parse(stdout)
    return isObject(value) ? value : {}
  } catch {
    return {} // words that begin like JSON are words
  }
}

function commandsFor(core: AgentCore, { event, subject }: CommandCall): string[] {
  return core.settings.flatMap(({ settings }) => {
    const matchers = fieldOf(settings, "hooks")?.[event]
    const due = (Array.isArray(matchers) ? matchers : []).filter((matcher) =>
      isMeant(textOf(matcher, "matcher"), subject),
    )
    return due.filter(isObject).flatMap(({ hooks }) => {
      return Array.isArray(hooks) ? hooks.flatMap((hook) => textOf(hook, "command") ?? []) : []
    })
  })
}
