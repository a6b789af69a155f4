import { existsSync, statSync } from "node:fs"
import { access, constants, statfs } from "node:fs/promises"
import { createServer } from "node:net"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { findClaude } from "@signalbox/transport/find-claude"
import { signInOf } from "@signalbox/transport/process"
import { canDial, versionOf } from "../base/claude-at-hand.ts"
import type { DataDirectory } from "../base/data-directory.ts"
import { oneLine } from "../base/failure.ts"
import { type Check, note, ok, wrong } from "./check.ts"

const PORT = 8765
const LITTLE_DISK_BYTES = 1024 ** 3
const GIGABYTE = 1024 ** 3

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isNew = major > 20 || (major === 20 && minor >= 19)
  return isNew ? ok("node", version) : wrong("node", `${version} is too old`, "install Node 20.19 or newer")
}

/** Which `claude` a runner would start, and by which ways an agent of that version comes to a hub. */
export async function checkClaude(env: NodeJS.ProcessEnv): Promise<Check> {
  let executable: ReturnType<typeof findClaude>
  try {
    executable = findClaude({ env })
  } catch (error) {
    const why = env["CLAUDE_BIN"] === undefined ? "not found" : oneLine(error)
    const todo = "npm install -g @anthropic-ai/claude-code, or set CLAUDE_BIN; without it: --agent simulator"
    return wrong("claude", why, todo)
  }
  const version = await versionOf(executable)
  const { path, foundBy } = executable
  if (version === undefined) return wrong("claude", `${path} does not say its version`, `run it: ${path} --version`)
  const ways = canDial(version)
    ? "by a runner, or dials by itself (--sdk-url)"
    : "by a runner (this version does not dial)"
  return ok("claude", `${version} at ${path} (by ${foundBy}); agents start ${ways}`)
}

/** Whether there is something to sign in with. What it is stays where it is. */
export function checkSignIn(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): Check {
  return signInCheck(signInOf(env, platform), "in this shell")
}

/** `where`: whose environment it is. */
export function signInCheck(signIn: string | null | undefined, where: string): Check {
  if (typeof signIn === "string") return ok("sign-in", signIn)
  const todo = "run claude there once and sign in with /login, or set ANTHROPIC_API_KEY where it is started"
  if (signIn === undefined) return note("sign-in", `no file and no key ${where}; the keychain may have it`, todo)
  return wrong("sign-in", `neither credentials nor a key ${where}`, todo)
}

export async function checkPort(hubUrl: string | undefined): Promise<Check> {
  if (hubUrl !== undefined) return ok("port", `the hub has ${new URL(hubUrl).port || "its own"}`)
  if (await isFree(PORT)) return ok("port", `${PORT} is free`)
  return note(
    "port",
    `${PORT} is taken`,
    "nothing: signalbox up takes the next free one; signalbox discover tells who has it",
  )
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

export async function checkData({ path }: DataDirectory): Promise<Check> {
  if (!existsSync(path)) return ok("data", `${path} (made by signalbox up)`)
  const found = statSync(path)
  if (!found.isDirectory()) return wrong("data", `${path} is no directory`, "choose another with --data")
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0)
    return wrong("data", `${path} can be read by others`, `chmod 700 ${path}`)
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return wrong("data", `${path} cannot be written by you`, `chown it to you, or choose another with --data`)
  }
  return ok("data", `${path}, yours alone`)
}

export async function checkDisk({ path }: DataDirectory): Promise<Check> {
  const place = existingPart(path)
  try {
    const { bavail, bsize } = await statfs(place)
    const free = bavail * bsize
    const text = `${(free / GIGABYTE).toFixed(1)} GB free`
    if (free >= LITTLE_DISK_BYTES) return ok("disk", text)
    return wrong("disk", text, `free some space at ${place}, or choose another place with --data`)
  } catch (error) {
    return note("disk", `cannot be told: ${oneLine(error)}`, "look whether there is room with df")
  }
}

function existingPart(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : existingPart(dirname(path))
}

/** Sign-ins and tokens end by the clock: one that is far behind keeps everybody out, or lets everybody in. */
export function checkClock(nowMs: number = Date.now()): Check {
  const installedMs = statSync(fileURLToPath(import.meta.url)).mtimeMs
  const now = new Date(nowMs).toISOString()
  if (nowMs + 60_000 >= installedMs) return ok("clock", now)
  return wrong("clock", `${now} is before these files were written`, "set the clock: timedatectl set-ntp true")
}
