import { homedir } from "node:os"
import { join, resolve } from "node:path"

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
    runnerToken: join(path, "runner-token"),
    runnerState: join(path, "runner"),
    runnerLog: join(path, "runner.log"),
  }
}
