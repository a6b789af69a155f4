import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findClaude } from "@signalbox/transport/find-claude"

const run = promisify(execFile)
const PATIENCE_MS = 5_000

/** The version of the `claude` on this machine; undefined when there is none, or it does not say. */
async function askVersion(): Promise<string | undefined> {
  try {
    const { path } = findClaude()
    const isScript = /\.[cm]?js$/.test(path)
    const [command, args] = isScript ? [process.execPath, [path, "--version"]] : [path, ["--version"]]
    const { stdout } = await run(command, args, { timeout: PATIENCE_MS })
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

/** Asked once, when somebody wants to know. */
export function claudeAtHand(): () => Promise<string | undefined> {
  let version: Promise<string | undefined> | undefined
  return () => (version ??= askVersion())
}
