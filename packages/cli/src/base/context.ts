import { existsSync, mkdirSync } from "node:fs"
import { isIP } from "node:net"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { listedAddresses } from "@signalbox/protocol/hub-addresses"
import { CliError, oneLine } from "./failure.ts"

/** The world as a command sees it. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

export interface DataOption {
  readonly data?: string
}

export interface JsonOption extends DataOption {
  readonly json?: boolean
}

/** Where a hub on this machine keeps everything, and where its commands find it. */
export interface DataDirectory {
  readonly path: string
  /** True if it was named on the command line. */
  readonly isNamed: boolean
  readonly hubCard: string
  readonly adminToken: string
  /** Where a runner that was asked to stop says why it doesn't. */
  readonly runnerReply: string
  /** Left by a runner that stopped on request: it need not be restarted. */
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

/** Creates one folder after the other: under /proc and the like, Node's recursive mkdir never returns. */
export function makeDataDirectory({ path }: DataDirectory): void {
  const missing: string[] = []
  for (let at = path; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at)
  try {
    for (const folder of missing) if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (existsSync(path)) return
    throw new CliError("cli/failed", `can't create ${path} (${oneLine(error)}): choose another directory with --data`)
  }
}

/** A command to type next, for the same hub: a data directory that was named is named again. */
export function nextCommand(words: string, options: DataOption, env: NodeJS.ProcessEnv): string {
  return `signalbox ${words}${dataWords(options, env)}`
}

/** Completes an error that points to a list with the command for the same hub. Other errors stay as they are. */
export function withNextCommand(error: unknown, options: DataOption, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof CliError) || error.list === undefined) return error
  return new CliError(error.code, `${error.what}: see "${nextCommand(error.list, options, env)}"`, { cause: error })
}

/** SIGNALBOX_URL wins over the data directory, so a command for its hub must not name the directory. */
function dataWords(options: DataOption, env: NodeJS.ProcessEnv): string {
  const isByVariable = (env["SIGNALBOX_DATA"] ?? "") !== "" && (env["SIGNALBOX_URL"] ?? "") === ""
  if (options.data === undefined && !isByVariable) return ""
  return ` --data ${shellWord(dataDirectory(options, env).path)}`
}

/** All of several addresses must be. `127.example.org` is a name, not an address of this machine. */
export function isOnThisMachine(url: string): boolean {
  return listedAddresses(url).every((text) => {
    const { hostname } = new URL(text)
    return /^(?:localhost|\[::1\]|0\.0\.0\.0)$/.test(hostname) || (isIP(hostname) === 4 && hostname.startsWith("127."))
  })
}

/** Quoted, so that a shell reads the text as one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
