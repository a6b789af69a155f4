import { createHash, randomUUID } from "node:crypto"
import { once } from "node:events"
import { linkSync, readFileSync, realpathSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { RunnerError, systemCode } from "../errors.ts"

export interface DirectoryLock {
  release(): Promise<void>
}

/** Who holds the lock, as it wrote itself: what another user's process says in its place is not believed. */
const HOLDER_FILE = "lock-holder"
/** A part of the socket's name that another user does not know before it is taken. */
const NAME_FILE = "lock-name"
const ANSWER_MS = 2_000
const MAX_ANSWER_CHARS = 100
const SETTLE_MS = 100

/**
 * One runner per state directory. What is held is a local socket: the system lets go of it with the process, however that
 * ends. On Linux its name is not a file, so that nothing is ever left behind; elsewhere a file that nobody answers at is taken
 * over. Whoever connects is told the holder's pid, which counts if the directory, where only its owner writes, says the same.
 */
export async function takeDirectoryLock(directory: string): Promise<DirectoryLock> {
  const address = lockAddress(directory)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
    socket.end(String(process.pid))
  })
  if (!(await listens(server, address))) {
    const holder = await lockHolder(directory)
    if (holder !== undefined || !isFile(address) || (await answerAt(address)) !== "") throw locked(directory, holder)
    unlinkSync(address)
    if (!(await listens(server, address))) throw locked(directory, await lockHolder(directory))
    await assertStillOurs(directory, { server, address })
  }
  server.unref()
  const release = async () => {
    const closed = once(server, "close")
    server.close()
    // A caller who does not hang up keeps nobody waiting.
    for (const socket of sockets) socket.destroy()
    await closed
  }
  try {
    writeFileSync(join(directory, HOLDER_FILE), String(process.pid), { mode: 0o600 })
  } catch (error) {
    await release()
    throw error
  }
  return { release }
}

/** The pid of the runner that works in this directory; undefined if none does. */
export async function lockHolder(directory: string): Promise<number | undefined> {
  const written = writtenIn(directory, HOLDER_FILE)
  // Nobody has had it yet, and looking leaves no trace.
  if (written === undefined) return undefined
  const pid = Number(written)
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  return (await answerAt(lockAddress(directory))) === written ? pid : undefined
}

/** The words of the process that listens there; empty if none does. It may be any process, so it is not listened to for long. */
async function answerAt(address: string): Promise<string> {
  const socket = connect(address)
  const patience = setTimeout(() => socket.destroy(), ANSWER_MS)
  let text = ""
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
    if (text.length > MAX_ANSWER_CHARS) socket.destroy()
  })
  await new Promise<void>((resolve) => {
    socket.on("error", () => undefined)
    socket.on("close", () => resolve())
  })
  clearTimeout(patience)
  return text
}

function writtenIn(directory: string, file: string): string | undefined {
  try {
    return readFileSync(join(directory, file), "latin1")
  } catch {
    return undefined
  }
}

/** Made once, whole or not at all, whoever comes first. */
function ownName(directory: string): string {
  const known = writtenIn(directory, NAME_FILE)
  if (known !== undefined) return known
  const draft = join(directory, `${NAME_FILE}.${randomUUID()}`)
  writeFileSync(draft, randomUUID(), { mode: 0o600 })
  try {
    linkSync(draft, join(directory, NAME_FILE))
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(join(directory, NAME_FILE), "latin1")
}

/** A socket's path may have a hundred characters or so, hence the hash. */
export function lockAddress(directory: string): string {
  const path = realpathSync(directory)
  if (process.platform === "linux") {
    return `\0signalbox-runner-${userInfo().uid}-${hash(`${path} ${ownName(path)}`)}`
  }
  if (process.platform === "win32") return `\\\\.\\pipe\\signalbox-runner-${hash(path)}`
  const file = join(path, "lock")
  return file.length < 100 ? file : join(tmpdir(), `signalbox-runner-${hash(path)}`)
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
  const message =
    pid === undefined
      ? `${directory} is held by a process that is not known for a runner: start again in a moment; if it stays so, remove ${NAME_FILE} there`
      : `${directory} is in use by another runner (pid ${pid}): use that one, stop it with SIGTERM, or choose another directory`
  return new RunnerError("runner/locked", message, { details: pid === undefined ? {} : { pid } })
}
