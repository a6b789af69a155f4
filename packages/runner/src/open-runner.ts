import { mkdirSync } from "node:fs"
import type { RunnerFacts } from "@signalbox/protocol/runner-wire"
import { OpenRunner } from "./machine-runner.ts"
import { type RunnerOptions, settleRunnerOptions } from "./options.ts"
import { takeDirectoryLock } from "./state/directory-lock.ts"
import { StateFile } from "./state/state-file.ts"

export interface Runner {
  readonly facts: RunnerFacts
  /** Resolves when the hub has taken it for the first time. */
  readonly connected: Promise<void>
  /** Resolves with the reason when the runner is over. */
  readonly closed: Promise<string>
  /** How many agents live on it. */
  readonly agents: number
  /**
   * Ends the runner. With `agents` its agents are taken down first, and what the hub does not have of them is kept for it;
   * without, a runner that has agents lives on. Resolves to whether it is over.
   */
  close(options: { agents: boolean; reason?: string }): Promise<boolean>
}

/** Starts the runner of this machine: ends what a killed one left running, then dials the hub, for ever. */
export async function openRunner(options: RunnerOptions): Promise<Runner> {
  const settings = settleRunnerOptions(options)
  mkdirSync(settings.stateDirectory, { recursive: true, mode: 0o700 })
  const lock = await takeDirectoryLock(settings.stateDirectory)
  try {
    return await OpenRunner.start({ settings, state: StateFile.open(settings.stateDirectory), lock })
  } catch (error) {
    await lock.release()
    throw error
  }
}
