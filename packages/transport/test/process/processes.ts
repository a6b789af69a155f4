import { readFileSync } from "node:fs"
import { setImmediate as nextTurn } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import { type ChildProcessOptions, type ChildTransport, openChildProcess } from "../../src/process/child-process.ts"
import { type SpawnedProcess, type SpawnProcess, spawnHere } from "../../src/process/spawned-process.ts"

const SCENES = fileURLToPath(new URL("scenes.mjs", import.meta.url))

/** Whether no such process runs. One that has died and was not collected by its parent does not run. */
export function isGone(pid: number | undefined): boolean {
  if (pid === undefined) return true
  try {
    process.kill(pid, 0)
    return /^\S+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return true
  }
}

export async function waitUntilGone(pid: number): Promise<void> {
  await expect.poll(() => isGone(pid), { timeout: 10_000, interval: 5 }).toBe(true)
}

/** A transport to one of the small plays in scenes.mjs, and a reader of its lines. */
export async function openScene(
  scene: string,
  options: Omit<Partial<ChildProcessOptions>, "command"> = {},
): Promise<Scene> {
  const { args = [], ...rest } = options
  const transport = await openChildProcess({
    killAfterMs: 5000,
    ...rest,
    command: process.execPath,
    args: [SCENES, scene, ...args],
  })
  const iterator = transport.lines[Symbol.asyncIterator]()
  return {
    transport,
    async next() {
      const line = await iterator.next()
      return line.done === true ? undefined : JSON.parse(line.value)
    },
    async rest() {
      const lines: string[] = []
      for (let line = await iterator.next(); line.done !== true; line = await iterator.next()) lines.push(line.value)
      return lines
    },
  }
}

export interface Scene {
  readonly transport: ChildTransport
  /** The next line, parsed; undefined at the end. */
  readonly next: () => Promise<Record<string, number> | undefined>
  /** Every line until the end, as it is. */
  readonly rest: () => Promise<string[]>
}

/** The usual way of starting a process, with the process to look at. */
export function watchedSpawn(): { spawn: SpawnProcess; spawned: () => SpawnedProcess | undefined } {
  let process: SpawnedProcess | undefined
  return {
    spawn(request) {
      process = spawnHere(request)
      return process
    },
    spawned: () => process,
  }
}

/** Lets everything that can happen at once happen. */
export async function settleEvents(): Promise<void> {
  for (let round = 0; round < 50; round++) await nextTurn()
}
