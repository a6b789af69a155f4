import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type ClaudeExecutable, findClaude } from "@signalbox/transport/find-claude"

const run = promisify(execFile)
const PATIENCE_MS = 5_000
/** The last release whose `--sdk-url` takes any address. */
const LAST_DIALLING = [2, 1, 120] as const

/** The version that `--version` prints; undefined if it prints none. */
export async function versionOf({ command, args }: ClaudeExecutable): Promise<string | undefined> {
  try {
    const { stdout } = await run(command, [...args, "--version"], { timeout: PATIENCE_MS })
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

/** Whether that version can dial a hub by itself; every version can be started by a runner. */
export function canDial(version: string): boolean {
  const parts = version.split(".").map(Number)
  for (const [index, last] of LAST_DIALLING.entries()) {
    const part = parts[index] ?? 0
    if (part !== last) return part < last
  }
  return true
}

/** The version of the `claude` on this machine, looked up once and on demand. */
export function claudeAtHand(): () => Promise<string | undefined> {
  let version: Promise<string | undefined> | undefined
  return () => (version ??= askVersion())
}

async function askVersion(): Promise<string | undefined> {
  try {
    return await versionOf(findClaude())
  } catch {
    return undefined
  }
}

/** The folder of the built cockpit; without one the hub shows a plain page. */
export function cockpitDirectory(): string | undefined {
  try {
    // Not imported: these are files for a browser, found by the one name that their package exports.
    const manifest = createRequire(import.meta.url).resolve("@signalbox/web/package.json")
    const built = join(dirname(manifest), "dist")
    return existsSync(join(built, "index.html")) ? built : undefined
  } catch {
    return undefined
  }
}

/** This command, to start processes of our own. */
export const SIGNALBOX: string = fileURLToPath(new URL("../../bin/signalbox.mjs", import.meta.url))
