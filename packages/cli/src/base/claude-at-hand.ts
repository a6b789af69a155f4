import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { type ClaudeExecutable, findClaude } from "@signalbox/transport/find-claude"

const run = promisify(execFile)
const PATIENCE_MS = 5_000
/** The last release whose `--sdk-url` takes any address. */
const LAST_DIALLING = [2, 1, 120] as const

/** What `--version` says; undefined when it does not say. */
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

/** The version of the `claude` on this machine, asked once, when somebody wants to know. */
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
