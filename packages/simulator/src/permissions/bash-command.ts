import { resolve } from "node:path"

// A rough reading of a shell command: enough to tell what a CLI asks permission for. It is no parser of shell.

const READ_ONLY = new Set(
  "ls cat head tail wc echo pwd date whoami sleep true false which type stat file du df env printenv sort uniq cut tr grep rg find tree basename dirname realpath uname id hostname test printf seq diff cmp jq cd".split(
    " ",
  ),
)
const READ_ONLY_GIT = new Set(["status", "log", "diff", "show", "branch", "remote", "rev-parse", "blame", "describe"])
const FILE_COMMANDS = new Set(["touch", "mkdir", "rm", "rmdir", "mv", "cp", "ln", "chmod"])
/** Commands that look at the paths they are given: whether those are files or folders. */
const LOOKS_AT = new Map([
  ...["cat", "head", "tail", "wc", "stat", "file", "sort", "uniq", "diff", "cmp"].map(
    (name) => [name, "file"] as const,
  ),
  ...["ls", "find", "tree", "du"].map((name) => [name, "folder"] as const),
])

export interface CommandReading {
  readonly parts: readonly string[]
  readonly isReadOnly: boolean
  /** Changes files by name, in the folder it stands in or below: what `acceptEdits` covers. */
  readonly changesOwnFiles: boolean
  /** The first path it would write. */
  readonly writes?: string
  readonly redirects: boolean
}

export function readCommand(command: string, cwd: string): CommandReading {
  const parts = commandParts(command)
  const redirect = /(?:^|[^0-9&>])>{1,2}\s*([^\s&|;]+)/.exec(command)?.[1]
  const target = redirect === undefined || redirect === "/dev/null" ? undefined : redirect
  const changing = parts.flatMap((part) => changedPath(part) ?? [])
  const [first] = changing
  const written = first ?? target
  const own = parts.every((part) => isReadOnlyPart(part) || changedPath(part) !== undefined)
  return {
    parts,
    isReadOnly: target === undefined && changing.length === 0 && parts.every(isReadOnlyPart),
    changesOwnFiles: changing.length > 0 && own && changing.every((path) => isInside(resolve(cwd, path), cwd)),
    redirects: first === undefined && target !== undefined,
    ...(written === undefined ? {} : { writes: resolve(cwd, written) }),
  }
}

/** The commands of a line, one by one. What separates them does not count between quotes. */
export function commandParts(command: string): string[] {
  const parts = [""]
  for (const [token] of command.matchAll(/'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|&&|\|\||[;|\n]|[\s\S]/g)) {
    if (/^(?:&&|\|\||[;|\n])$/.test(token)) parts.push("")
    else parts.push(`${parts.pop() ?? ""}${token}`)
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "")
}

/** Without the variables that are set for it alone. */
export function withoutVariables(part: string): string {
  return part.replace(/^(?:[A-Za-z_]\w*=\S*\s+)+/, "")
}

/** The words of such a command do not show what runs inside of it. */
export function hidesCommands(part: string): boolean {
  return /`|\$\(/.test(part)
}

/** The rule that "always allow" would add: the first two words where the second is a plain one, else just this command. */
export function rulePrefix(command: string): string {
  const [name = "", next = ""] = command.trim().split(/\s+/)
  // A command that runs another is allowed for just that one.
  const isPlain = !name.includes("=") && name !== "xargs"
  return /^[a-z][a-z0-9-]*$/i.test(next) && isPlain ? `${name} ${next} *` : command
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`)
}

/** The first path outside of these folders that a command which only looks would look at, and the folder of it. */
export function lookedAt(
  part: string,
  cwd: string,
  folders: readonly string[],
): { path: string; folder: string } | undefined {
  const [name = "", ...words] = part.split(/\s+/)
  const kind = LOOKS_AT.get(name)
  if (kind === undefined) return undefined
  const paths = words.filter((word) => /^(?:\/|\.\.)[\w./-]*$/.test(word)).map((word) => resolve(cwd, word))
  const path = paths.find((each) => !folders.some((folder) => isInside(each, folder)) && each !== "/dev/null")
  return path === undefined ? undefined : { path, folder: kind === "folder" ? path : resolve(path, "..") }
}

export function changedPath(part: string): string | undefined {
  const [name = "", ...words] = part.split(/\s+/)
  return FILE_COMMANDS.has(name) ? words.find((word) => !word.startsWith("-")) : undefined
}

export function isReadOnlyPart(part: string): boolean {
  const [name = "", next = ""] = part.split(/\s+/)
  if (name === "git") return READ_ONLY_GIT.has(next)
  if (changingFind(part) !== undefined) return false
  return READ_ONLY.has(name) && !hidesCommands(part)
}

/** The word that makes more of a `find` than a look. */
export function changingFind(part: string): string | undefined {
  return part.startsWith("find ") ? /\s(-(?:exec|execdir|delete|ok|okdir))\b/.exec(part)?.[1] : undefined
}
