import { createHash } from "node:crypto"
import { once } from "node:events"
import { realpathSync, statSync, unlinkSync } from "node:fs"
import { connect, createServer, type Server } from "node:net"
import { userInfo } from "node:os"
import { join } from "node:path"
import { RunnerError, systemCode } from "../errors.ts"

export interface DirectoryLock {
  release(): Promise<void>
}

const ANSWER_MS = 2_000
const SETTLE_MS = 100

/**
 * One runner per state directory. What is held is a local socket: the system lets go of it with the process, however that
 * ends. On Linux its name is not a file, so that nothing is ever left behind; elsewhere a file that nobody answers at is taken
 * over. Whoever connects is told the holder's pid.
 */
export async function takeDirectoryLock(directory: string): Promise<DirectoryLock> {
  const address = lockAddress(directory)
  const server = createServer((socket) => {
    socket.on("error", () => undefined)
    socket.end(String(process.pid))
  })
  if (!(await listens(server, address))) {
    const holder = await lockHolder(directory)
    if (holder !== undefined) throw locked(directory, holder)
    if (!isFile(address)) throw locked(directory, undefined)
    unlinkSync(address)
    if (!(await listens(server, address))) throw locked(directory, await lockHolder(directory))
    await assertStillOurs(directory, { server, address })
  }
  server.unref()
  return {
    release: async () => {
      server.close()
      await once(server, "close")
    },
  }
}

/** The pid of the runner that works in this directory; undefined if none does. */
export async function lockHolder(directory: string): Promise<number | undefined> {
  const socket = connect(lockAddress(directory))
  socket.setTimeout(ANSWER_MS, () => socket.destroy())
  let text = ""
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
  })
  await new Promise<void>((resolve) => {
    socket.on("error", () => undefined)
    socket.on("close", () => resolve())
  })
  const pid = Number(text)
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
}

/** A socket's path may have a hundred characters or so, hence the hash. */
function lockAddress(directory: string): string {
  const path = realpathSync(directory)
  if (process.platform === "linux") return `\0signalbox-runner-${userInfo().uid}-${hash(path)}`
  if (process.platform === "win32") return `\\\\.\\pipe\\signalbox-runner-${hash(path)}`
  const file = join(path, "lock")
  return file.length < 100 ? file : join("/tmp", `signalbox-runner-${hash(path)}`)
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32)
}

async function listens(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => (systemCode(error) === "EADDRINUSE" ? resolve(false) : reject(error))
    server.once("error", failed)
    server.listen(address, () => {
      server.off("error", failed)
      resolve(true)
    })
  })
}

function isFile(address: string): boolean {
  return !address.startsWith("\0") && !address.startsWith("\\\\")
}

/** Two that found the same dead file may both have removed one; only the later one's socket is still reached. */
async function assertStillOurs(
  directory: string,
  { server, address }: { server: Server; address: string },
): Promise<void> {
  const { ino } = statSync(address)
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  if (statSync(address).ino === ino) return
  server.close()
  throw locked(directory, await lockHolder(directory))
}

function locked(directory: string, pid: number | undefined): RunnerError {
  const who = pid === undefined ? "" : ` (pid ${pid})`
  const message = `${directory} is in use by another runner${who}: use that one, stop it with SIGTERM, or choose another directory`
  return new RunnerError("runner/locked", message, { details: pid === undefined ? {} : { pid } })
}
