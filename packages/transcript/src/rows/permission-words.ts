import { isObject } from "@signalbox/protocol/envelope"

/** The folders that a path is compared with. */
interface Folders {
  /** The agent's folder, and the directories that were added. A path in any of them is not outside. */
  readonly folders: readonly (string | null | undefined)[]
  /** The home directory there, which `~` stands for. */
  readonly home?: string | undefined
}

/** The path that a permission request is about; that it is outside is said only where that is certain. */
export function blockedPathWords(path: string, where: Folders): string {
  return `${isOutside(path, where) ? "Outside the folder" : "Path"}: ${path}`
}

/**
 * Compares names only: nobody here can follow a link. Paths that differ in case alone may be one file on some machines, so they
 * count as the same. What cannot be told (no folder known, another kind of path, `~` of an unknown home) is not outside.
 */
function isOutside(path: string, { folders, home }: Folders): boolean {
  const known = folders.flatMap((folder) => (folder == null ? [] : (wholePath(folder, { home }) ?? [])))
  const [first] = known
  if (first === undefined) return false
  const own = wholePath(path, { home, from: first })
  return own !== undefined && known.every((folder) => folder.root === own.root && !isWithin(own, folder))
}

interface WholePath {
  /** "/", "c:" or "//server/share": paths of different roots are not compared. */
  readonly root: string
  readonly isWindows: boolean
  readonly parts: readonly string[]
}

const WINDOWS_ROOT = /^(?:[A-Za-z]:(?=[\\/]|$)|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)/

function wholePath(
  path: string,
  { home, from }: { home?: string | undefined; from?: WholePath },
): WholePath | undefined {
  if (/^~(?:[\\/]|$)/.test(path)) {
    const base = home === undefined ? undefined : wholePath(home, {})
    return base === undefined ? undefined : below(base, path.slice(1))
  }
  const windows = WINDOWS_ROOT.exec(path)?.[0]
  if (windows !== undefined) {
    const root = windows.replaceAll(/[\\/]+/g, "/").toLowerCase()
    return below({ root, isWindows: true, parts: [] }, path.slice(windows.length))
  }
  if (path.startsWith("/")) return below({ root: "/", isWindows: false, parts: [] }, withoutAlias(path))
  // A drive without a folder (`C:x`) or another's home (`~ann`) cannot be told.
  return from === undefined || /^(?:~|[A-Za-z]:)/.test(path) ? undefined : below(from, path)
}

/** macOS has these folders under two names. */
function withoutAlias(path: string): string {
  return path.replace(/^\/private(?=\/(?:tmp|var|etc)(?:\/|$))/, "")
}

function below(base: WholePath, path: string): WholePath {
  const parts = [...base.parts]
  for (const part of path.split(base.isWindows ? /[\\/]+/ : /\/+/)) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part.normalize("NFC").toLowerCase())
  }
  return { ...base, parts }
}

function isWithin(path: WholePath, folder: WholePath): boolean {
  return folder.parts.every((part, index) => path.parts[index] === part)
}

/**
 * True if "always allow" may store this suggestion without being told which one. A change of mode, or an update that
 * replaces other rules, allows far more than the request that is shown, so people choose those by themselves.
 */
export function isUsualGrant(update: unknown): boolean {
  if (!isObject(update)) return false
  const { type, behavior = "allow" } = update
  return type === "addDirectories" || (type === "addRules" && behavior === "allow")
}

/** The files, from the home directory or the session's folder, in which Claude Code keeps permissions. */
const SETTINGS: Readonly<Record<string, string>> = {
  userSettings: ".claude/settings.json",
  projectSettings: ".claude/settings.json",
  localSettings: ".claude/settings.local.json",
}

interface KeptIn {
  /** Its name; without one, nobody knows on which machine the agent runs. */
  readonly machine: string | undefined
  /** The session's folder. */
  readonly folder: string | null | undefined
}

/** Advice on a permission that was revoked here and that Claude Code keeps itself. */
export function stillKeptWords(where: string, { machine = "its machine", folder }: KeptIn): string {
  const file = Object.hasOwn(SETTINGS, where) ? SETTINGS[where] : undefined
  if (file === undefined)
    return "Noted, but Claude Code keeps it until its process ends: stop the session to end it now."
  const project = folder == null ? `${file} in the session's folder` : `${folder}/${file}`
  const place = where === "userSettings" ? `~/${file}` : project
  return `Noted, but Claude Code still has it, and does not ask: remove it from ${place} on ${machine}.`
}
