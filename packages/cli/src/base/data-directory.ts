import { existsSync, mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { CliError, oneLine } from "./failure.ts"

export interface DataOption {
  readonly data?: string
}

/** Where a hub of this machine keeps everything, and what its commands find there. */
export interface DataDirectory {
  readonly path: string
  /** Somebody named it on the command line. */
  readonly isNamed: boolean
  readonly hubCard: string
  readonly adminToken: string
  /** Where a runner that was asked to end says why it does not. */
  readonly runnerReply: string
  /** Left by a runner that ended in good order: nobody needs to start it again. */
  readonly runnerEnded: string
  readonly runnerToken: string
  readonly runnerState: string
  readonly runnerLog: string
}

export function dataDirectory({ data }: DataOption, env: NodeJS.ProcessEnv): DataDirectory {
  const named = data ?? env["SIGNALBOX_DATA"]
  const path = resolve(named === undefined || named === "" ? join(homedir(), ".signalbox") : named)
  return {
    path,
    isNamed: data !== undefined,
    hubCard: join(path, "hub.json"),
    adminToken: join(path, "admin-token"),
    runnerReply: join(path, "runner-reply.json"),
    runnerEnded: join(path, "runner-ended.json"),
    runnerToken: join(path, "runner-token"),
    runnerState: join(path, "runner"),
    runnerLog: join(path, "runner.log"),
  }
}

/** One folder after the other: below /proc and its like, Node's own recursion never comes to its end. */
export function makeDataDirectory({ path }: DataDirectory): void {
  const missing: string[] = []
  for (let at = path; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at)
  try {
    for (const folder of missing) if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (existsSync(path)) return
    throw new CliError("cli/failed", `${path} cannot be made (${oneLine(error)}): choose another directory with --data`)
  }
}
