import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { startEngine } from "../engine/load.ts"
import type { QueryEngine } from "../engine/query-engine.ts"
import { READY_TIMEOUT_MS, readyWithin } from "../engine/ready-within.ts"
import { environmentOf } from "../launch/capture.ts"
import { configFolder } from "../store/transcript-key.ts"
import type { Options } from "../types/options.ts"
import type { SpareProcess } from "../types/spare.ts"
import { Spare } from "./spare.ts"

export interface PrewarmParams {
  options?: Options | undefined
  /** How long the agent has to answer its first request. */
  initializeTimeoutMs?: number | undefined
}

/** Starts an agent before it is known which session it will be, and waits until it is ready. */
export async function prewarm({
  options = {},
  initializeTimeoutMs = READY_TIMEOUT_MS,
}: PrewarmParams = {}): Promise<SpareProcess> {
  const parking = await parkingFolder(options)
  let engine: QueryEngine | undefined
  try {
    engine = await startEngine({ ...options, cwd: parking.cwd }, { start: "spare" })
    const release = engine.expectPrompt()
    await readyWithin(engine, initializeTimeoutMs)
    return new Spare({ engine, release, exited: engine.gone.then(parking.remove) })
  } catch (error) {
    await engine?.gone
    await parking.remove()
    throw error
  }
}

interface Parking {
  readonly cwd: string
  readonly remove: () => Promise<void>
}

/** An agent needs a folder to be in; until it is told its own, it is in one where nothing is. */
async function parkingFolder(options: Options): Promise<Parking> {
  if (options.cwd !== undefined) return { cwd: options.cwd, remove: async () => undefined }
  const spares = join(configFolder(environmentOf(options)), "spares")
  await mkdir(spares, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(spares, "spare-"))
  return { cwd: folder, remove: () => rm(folder, { recursive: true, force: true }).catch(() => undefined) }
}
