import { defined, fieldOf, isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import { numberIn, objectsIn, textsIn } from "../json.ts"
import type { Fields } from "../profiles/profile.ts"
import type { HostAnswer } from "../wire/host-requests.ts"
import type { AgentCore } from "./core.ts"

interface Matcher {
  readonly matcher?: string
  readonly callbackIds: readonly string[]
  readonly timeoutMs: number
  readonly blocksOnFailure: boolean
}

/** The outcome of one callback. */
export interface HookOutcome {
  readonly callbackId: string
  readonly output: Readonly<Fields>
  /** Nobody answered in time. */
  readonly timedOut: boolean
  readonly failed: boolean
  readonly blocksOnFailure: boolean
}

export interface HookCall {
  readonly event: string
  /** The matcher's subject: a tool's name, a source, a trigger. */
  readonly subject?: string
  readonly input: Fields
  readonly toolUseId?: string
  readonly signal?: AbortSignal
  /** Base fields that this event lacks, or has besides the usual ones. */
  readonly base?: { readonly omitMode?: boolean; readonly omitEffort?: boolean; readonly agent?: Fields }
}

const DEFAULT_TIMEOUT_MS = 600_000

/** The host's hooks, as `initialize` named them. */
export class Hooks {
  #matchers = new Map<string, Matcher[]>()

  /** Replaces what was there. */
  register(hooks: unknown): void {
    if (!isObject(hooks)) return
    this.#matchers = new Map(
      Object.entries(hooks).map(([event, matchers]) => [
        event,
        (Array.isArray(matchers) ? matchers : []).map(readMatcher),
      ]),
    )
  }

  get isSet(): boolean {
    return this.#matchers.size > 0
  }

  has(event: string): boolean {
    return (this.#matchers.get(event)?.length ?? 0) > 0
  }

  /** Calls every hook that matches, all at once, and waits for all of them. */
  async run(core: AgentCore, call: HookCall): Promise<HookOutcome[]> {
    const due = (this.#matchers.get(call.event) ?? []).filter(({ matcher }) => isMeant(matcher, call.subject))
    const calls = due.flatMap((matcher) => matcher.callbackIds.map((id) => this.#call(core, call, matcher, id)))
    const commands = runCommandHooks(core, { ...call, input: hookInput(core, call) })
    const outcomes = await Promise.all(calls)
    const calm = { callbackId: "command", timedOut: false, failed: false, blocksOnFailure: false }
    return [...outcomes, ...(await commands).map((output) => ({ ...calm, output }))]
  }

  async #call(core: AgentCore, call: HookCall, matcher: Matcher, callbackId: string): Promise<HookOutcome> {
    const request = {
      subtype: "hook_callback",
      callback_id: callbackId,
      input: hookInput(core, call),
      tool_use_id: call.toolUseId ?? core.random.uuid(),
    }
    const options = { timeoutMs: matcher.timeoutMs, ...(call.signal === undefined ? {} : { signal: call.signal }) }
    const answer = await core.host.ask(request, options)
    const failed = answer.kind === "error" || answer.kind === "malformed" || isMisnamed(answer, call.event)
    if (failed) tellFailure(core, call.event, { callbackId, blocks: matcher.blocksOnFailure })
    return {
      callbackId,
      output: failed ? {} : outputOf(answer),
      timedOut: answer.kind === "timed-out",
      failed,
      blocksOnFailure: matcher.blocksOnFailure,
    }
  }
}

export function failureWords(callbackId: string): string {
  return `Hook callback ${callbackId} failed: the SDK host replied with an error or an invalid answer.`
}

function tellFailure(core: AgentCore, event: string, failed: { callbackId: string; blocks: boolean }): void {
  if (!core.profile.quirks.tellsHookNews) return
  const consequence = failed.blocks
    ? 'onFailure is "block", so this failure counts as a block.'
    : "Its answer was treated as empty."
  const content = `${event}: ${failureWords(failed.callbackId)} ${consequence}`
  core.wire.system("informational", { content, level: "warning", tag: "hook_callback_failed" }, "uuid")
}

/** Output that is specific to an event must name it. */
function isMisnamed(answer: HostAnswer, event: string): boolean {
  const specific = answer.kind === "success" ? fieldOf(answer.payload, "hookSpecificOutput") : undefined
  return specific !== undefined && specific["hookEventName"] !== event
}

/** An asynchronous hook is one that is not waited for: it answers at once, and says nothing. */
function outputOf(answer: HostAnswer): Readonly<Fields> {
  if (answer.kind !== "success" || !isObject(answer.payload)) return {}
  return answer.payload["async"] === true ? {} : answer.payload
}

function hookInput(core: AgentCore, { event, input, base = {} }: HookCall): Fields {
  const { hooksSeePrompt } = core.profile.quirks
  const effort = hooksSeePrompt && base.omitEffort !== true ? { effort: { level: "medium" } } : {}
  return {
    session_id: core.wire.sessionId,
    transcript_path: core.transcript.path,
    cwd: core.launch.cwd,
    ...(hooksSeePrompt ? { prompt_id: core.state.promptId } : {}),
    ...(base.omitMode === true ? {} : { permission_mode: core.state.permissions.mode }),
    ...base.agent,
    ...effort,
    hook_event_name: event,
    ...input,
  }
}

function readMatcher(value: unknown): Matcher {
  const fields = isObject(value) ? value : {}
  const timeout = numberIn(fields, "timeout")
  return {
    callbackIds: textsIn(fields["hookCallbackIds"]),
    timeoutMs: timeout === undefined ? DEFAULT_TIMEOUT_MS : timeout * 1000,
    blocksOnFailure: fields["onFailure"] === "block",
    ...defined({ matcher: textOf(fields, "matcher") }),
  }
}

/** On the wish of a hook that said so by its exit code: every generation tells whose it is. */
export const BY_EXIT_CODE = "blockedByExitCode"

/** Commands that the settings run when a session starts. */
export async function runStartHooks(core: AgentCore, source: string, signal: AbortSignal): Promise<void> {
  const input = { hook_event_name: "SessionStart", source }
  await runCommandHooks(core, { event: "SessionStart", subject: source, input, signal })
}

/** Runs the settings' commands for an event, one after the other, and reads what they want. */
async function runCommandHooks(core: AgentCore, call: HookCall): Promise<Readonly<Fields>[]> {
  const outputs: Readonly<Fields>[] = []
  for (const command of commandsFor(core, call)) outputs.push(await runCommand(core, call, command))
  return outputs
}

/** Its course is told to whoever asked for it; older generations tell of the start of a session to everybody. */
async function runCommand(core: AgentCore, call: HookCall, command: string): Promise<Readonly<Fields>> {
  const { event, subject, input } = call
  const isTold = core.launch.includeHookEvents || (core.profile.quirks.tellsStartHooks && event === "SessionStart")
  const hook_name = subject === undefined ? event : `${event}:${subject}`
  const name = { hook_id: core.random.uuid(), hook_name, hook_event: event }
  if (isTold) core.wire.system("hook_started", name, "uuid")
  const { signal = new AbortController().signal } = call
  const { pretendShell, realShell } = await import("../tools/bash-tool.ts")
  const shell = core.toolbox.mode === "real" ? realShell : pretendShell
  const options = { cwd: core.launch.cwd, signal, stdin: JSON.stringify(input) }
  const { stdout, stderr, exitCode } = await shell(command, options)
  const outcome = exitCode === 0 ? "success" : "error"
  const told = { output: `${stdout}${stderr}`, stdout, stderr, exit_code: exitCode, outcome }
  if (isTold) core.wire.system("hook_response", { ...name, ...told }, "uuid")
  // Exit code 2 blocks, with what was said on stderr; JSON on stdout says more, and anything else is just words.
  if (exitCode === 2) return { decision: "block", reason: `[${command}]: ${stderr}`, [BY_EXIT_CODE]: true }
  return exitCode === 0 ? (parseObject(stdout) ?? {}) : {}
}

function commandsFor(core: AgentCore, { event, subject }: HookCall): string[] {
  return core.settings.flatMap(({ settings }) => {
    const due = objectsIn(fieldOf(settings, "hooks")?.[event]).filter((matcher) =>
      isMeant(textOf(matcher, "matcher"), subject),
    )
    return due.flatMap(({ hooks }) => objectsIn(hooks).flatMap((hook) => textOf(hook, "command") ?? []))
  })
}

/** Whether a hook's matcher speaks of this tool, source or trigger. */
export function isMeant(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subject === undefined) return true
  // Plain names are compared whole; a pattern may match anywhere.
  if (/^[\w\s|,]+$/.test(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === subject)
  try {
    return new RegExp(matcher).test(subject)
  } catch {
    return false
  }
}
