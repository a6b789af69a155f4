import type { Launched, LaunchSpec } from "@signalbox/protocol/runner-wire"
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
import { ClaudeVersions } from "./claude-version.ts"
import { executableOf } from "./executable.ts"
import { launchArguments } from "./launch-flags.ts"

export interface LauncherOptions {
  readonly settings: RunnerSettings
  readonly worktrees: Worktrees
  readonly versions: ClaudeVersions
  readonly sessionsOfOurs: ResumeCheck["ours"]
}

export interface Started {
  readonly child: ChildTransport
  readonly record: AgentRecord
}

/** Starts the process of an agent, after looking at everything that would make it fail. */
export class Launcher {
  readonly #options: LauncherOptions

  constructor(options: LauncherOptions) {
    this.#options = options
  }

  async start(spec: LaunchSpec): Promise<Started> {
    const { settings, worktrees, versions } = this.#options
    const env = agentEnvironment(settings, spec)
    const executable = executableOf(spec.agent, { env, simulator: settings.simulator })
    const folder = await folderForLaunch(spec, { env, ours: this.#options.sessionsOfOurs })
    // Somebody else's program is not run for its version alone: it may do something.
    const version = typeof spec.agent === "object" ? undefined : await versions.of(executable, env)
    const worktree = isWorktreeAsked(spec) ? await worktrees.add(spec, folder) : undefined
    const cwd = worktree?.path ?? folder
    const args = [...executable.args, ...launchArguments(spec, version)]
    const child = await this.#open({ command: executable.command, args, cwd, env }).catch(async (error: unknown) => {
      if (worktree !== undefined) await worktrees.remove(worktree.path).catch(() => undefined)
      throw error
    })
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

  async #open(process: { command: string; args: string[]; cwd: string; env: Record<string, string> }) {
    const { stopGraceMs, killAfterMs } = this.#options.settings.limits
    try {
      return await openChildProcess({ ...process, graceMs: stopGraceMs, killAfterMs })
    } catch (cause) {
      if (!(cause instanceof TransportError)) throw cause
      throw new Refusal("runner/spawn-failed", cause.message, { cause })
    }
  }
}

/** What our own side of things is configured with never reaches an agent. */
function agentEnvironment({ env }: RunnerSettings, spec: LaunchSpec): Record<string, string> {
  // Without checkpoints files could not be rewound later, whatever happened to them.
  const options = { enableFileCheckpointing: true, env: { ...spec.env, [SPAWN_VARIABLE]: spec.spawn } }
  return claudeProcessEnvironment(env, options)
}

async function recordOf(spec: LaunchSpec, launched: Launched, { clock }: RunnerSettings): Promise<AgentRecord> {
  const entry = await processEntry(launched.pid)
  return {
    session: spec.session,
    startedAt: new Date(clock.now()).toISOString(),
    launched,
    ...(entry === undefined ? {} : { processStartedAt: entry.startedAt }),
    ...(spec.resume === undefined || spec.fork === true ? {} : { resumed: spec.resume }),
  }
}
