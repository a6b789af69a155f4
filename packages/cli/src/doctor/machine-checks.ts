import { existsSync, statSync } from "node:fs"
import { access, constants, statfs } from "node:fs/promises"
import { createServer } from "node:net"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { findClaude } from "@signalbox/transport/find-claude"
import { signInOf } from "@signalbox/transport/process"
import type { DataDirectory } from "../base/context.ts"
import { oneLine } from "../base/failure.ts"
import { canDial, versionOf } from "../base/installed.ts"

/** `note`: nothing is wrong, but there is something to know. */
export interface Check {
  readonly name: string
  readonly state: "ok" | "note" | "wrong"
  readonly found: string
  /** The step to take next; absent with `ok`. */
  readonly todo?: string
}

export function ok(name: string, found: string): Check {
  return { name, state: "ok", found }
}

export function note(name: string, found: string, todo: string): Check {
  return { name, state: "note", found, todo }
}

export function wrong(name: string, found: string, todo: string): Check {
  return { name, state: "wrong", found, todo }
}

const PORT = 8765
const LITTLE_DISK_BYTES = 1024 ** 3
const GIGABYTE = 1024 ** 3

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isNew = major > 20 || (major === 20 && minor >= 19)
  return isNew ? ok("node", version) : wrong("node", `${version} is too old`, "install Node 20.19 or newer")
}

/** Which `claude` a runner would start, and how an agent of that version connects to a hub. */
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
  if (version === undefined) return wrong("claude", `${path} does not print its version`, `run it: ${path} --version`)
  const ways = canDial(version) ? "a runner or --sdk-url" : "a runner (this version has no --sdk-url for hubs)"
  return ok("claude", `${version} at ${path} (by ${foundBy}); connects through ${ways}`)
}

/** Whether there are credentials. They are not read. */
export function checkSignIn(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): Check {
  return signInCheck(signInOf(env, platform), "in this shell")
}

/** `where`: the place of the environment. */
export function signInCheck(signIn: string | null | undefined, where: string): Check {
  if (typeof signIn === "string") return ok("sign-in", signIn)
  const todo = "run claude there once and sign in with /login, or set ANTHROPIC_API_KEY where it starts"
  if (signIn === undefined)
    return note("sign-in", `no credentials file or key ${where}; they may be in the keychain`, todo)
  return wrong("sign-in", `no credentials or key ${where}`, todo)
}

export async function checkPort(hubUrl: string | undefined): Promise<Check> {
  if (hubUrl !== undefined) return ok("port", `${new URL(hubUrl).port || "the hub's own"}, used by the hub`)
  if (await isFree(PORT)) return ok("port", `${PORT} is free`)
  return note(
    "port",
    `${PORT} is taken`,
    "nothing: signalbox up takes the next free port; signalbox discover shows who uses it",
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
  if (!existsSync(path)) return ok("data", `${path} (created by signalbox up)`)
  const found = statSync(path)
  if (!found.isDirectory()) return wrong("data", `${path} is not a directory`, "choose another with --data")
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0)
    return wrong("data", `${path} can be read by others`, `chmod 700 ${path}`)
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return wrong("data", `you can't write to ${path}`, "change its owner, or choose another with --data")
  }
  return ok("data", `${path}, private`)
}

export async function checkDisk({ path }: DataDirectory): Promise<Check> {
  const place = existingPart(path)
  try {
    const { bavail, bsize } = await statfs(place)
    const free = bavail * bsize
    const text = `${(free / GIGABYTE).toFixed(1)} GB free`
    if (free >= LITTLE_DISK_BYTES) return ok("disk", text)
    return wrong("disk", text, `free some space at ${place}, or choose another directory with --data`)
  } catch (error) {
    return note("disk", `unknown: ${oneLine(error)}`, "check for free space with df")
  }
}

function existingPart(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : existingPart(dirname(path))
}

/** Sign-ins and tokens expire by the clock: with a wrong clock everybody is locked out or let in. */
export function checkClock(nowMs: number = Date.now()): Check {
  const installedMs = statSync(fileURLToPath(import.meta.url)).mtimeMs
  const now = new Date(nowMs).toISOString()
  if (nowMs + 60_000 >= installedMs) return ok("clock", now)
  return wrong("clock", `${now} is before Signalbox was installed`, "set the clock: timedatectl set-ntp true")
}
