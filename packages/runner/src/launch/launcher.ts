import { type Launched, type LaunchSpec, UNHOOKING_VARIABLES } from "@signalbox/protocol/runner-wire"
import {
  type ChildTransport,
  claudeProcessEnvironment,
  openChildProcess,
  TransportError,
} from "@signalbox/transport/process"
import { Refusal } from "../errors.ts"
import { folderForLaunch, isWorktreeAsked, type ResumeCheck } from "../machine/resume-check.ts"
import type { Worktrees } from "../machine/worktrees.ts"
import type { RunnerSettings } from "../options.ts"
import { processEntry } from "../state/process-table.ts"
import type { AgentRecord } from "../state/state-file.ts"
import { SPAWN_VARIABLE } from "../state/sweep.ts"
import { ClaudeVersions, executableOf, guardedInput } from "./executable.ts"
import { launchArguments, NO_OTHER_HOOKS } from "./launch-spec.ts"
import type { SecretFiles } from "./secret-files.ts"

export interface LauncherOptions {
  readonly settings: RunnerSettings
  readonly worktrees: Worktrees
  readonly versions: ClaudeVersions
  readonly secrets: SecretFiles
  readonly sessionsOfOurs: ResumeCheck["ours"]
}

export interface Started {
  readonly child: ChildTransport
  readonly record: AgentRecord
}

interface Opening {
  readonly executable: ReturnType<typeof executableOf>
  readonly flags: readonly string[]
  readonly cwd: string
  readonly env: Record<string, string>
  /** Its input never ends while it lives, and no hooks run but the hub's. */
  readonly isEnforced: boolean
}

/** Starts the process of an agent, after looking at everything that would make it fail. */
export class Launcher {
  readonly #options: LauncherOptions

  constructor(options: LauncherOptions) {
    this.#options = options
  }

  async start(spec: LaunchSpec): Promise<Started> {
    const { settings, worktrees, versions, secrets } = this.#options
    const env = agentEnvironment(settings, spec)
    const executable = executableOf(spec.agent, { env, simulator: settings.simulator })
    const folder = await folderForLaunch(spec, { env, ours: this.#options.sessionsOfOurs })
    // Somebody else's program is not run for its version alone: it may do something.
    const version = typeof spec.agent === "object" ? undefined : await versions.of(executable, env)
    const flags = launchArguments(spec, version)
    const worktree = isWorktreeAsked(spec) ? await worktrees.add(spec, folder) : undefined
    const cwd = worktree?.path ?? folder
    const isEnforced = spec.enforce === true
    const child = await this.#open(spec.spawn, { executable, flags, cwd, env, isEnforced }).catch(
      async (error: unknown) => {
        await secrets.remove(spec.spawn)
        if (worktree !== undefined) await worktrees.remove(worktree.path).catch(() => undefined)
        throw error
      },
    )
    const pid = child.pid ?? 0
    const launched: Launched = {
      spawn: spec.spawn,
      pid,
      cwd,
      ...(version === undefined ? {} : { cliVersion: version }),
      ...(worktree === undefined ? {} : { worktree }),
    }
    return { child, record: await recordOf(spec, launched, settings) }
  }

  async #open(incarnation: string, { executable, flags, cwd, env, isEnforced }: Opening): Promise<ChildTransport> {
    const { settings, secrets } = this.#options
    const { stopGraceMs: graceMs, killAfterMs } = settings.limits
    const { command } = executable
    // First, so that no word of the launch takes them for its value. Not in a file: nothing of it is secret, and nobody is to change it.
    const first = isEnforced ? NO_OTHER_HOOKS : []
    const opened = { command, args: [...executable.args, ...first, ...(await secrets.write(incarnation, flags))] }
    const started = isEnforced
      ? guardedInput(opened, await secrets.pathFor(incarnation, "input", "the pipe to the agent"))
      : opened
    try {
      return await openChildProcess({ ...started, cwd, env, graceMs, killAfterMs })
    } catch (cause) {
      if (!(cause instanceof TransportError)) throw cause
      throw new Refusal("runner/spawn-failed", cause.message, { cause })
    }
  }
}

/** Variables that configure our own side never reach an agent, nor do those that would leave the hub's hook out. */
function agentEnvironment({ env }: RunnerSettings, spec: LaunchSpec): Record<string, string> {
  const base = { ...env }
  if (spec.enforce === true) for (const name of UNHOOKING_VARIABLES) delete base[name]
  // Without checkpoints files could not be rewound later, whatever happened to them.
  const options = { enableFileCheckpointing: true, env: { ...spec.env, [SPAWN_VARIABLE]: spec.spawn } }
  return claudeProcessEnvironment(base, options)
}

async function recordOf(spec: LaunchSpec, launched: Launched, { clock }: RunnerSettings): Promise<AgentRecord> {
  const entry = await processEntry(launched.pid)
  return {
    session: spec.session,
    startedAt: new Date(clock.now()).toISOString(),
    launched,
    ...(entry === undefined ? {} : { processStartedAt: entry.startedAt }),
    ...(spec.resume === undefined || spec.fork === true ? {} : { resumed: spec.resume }),
    ...(spec.enforce === true ? { enforce: true } : {}),
  }
}
