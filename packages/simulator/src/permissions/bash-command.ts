import { resolve } from "node:path"

// A rough reading of a shell command: enough to tell what a CLI asks permission for. It is no parser of shell.

const READ_ONLY = new Set(
  "ls cat head tail wc echo pwd date whoami sleep true false which type stat file du df env printenv sort uniq cut tr grep rg find tree basename dirname realpath uname id hostname test printf seq diff cmp jq cd".split(
    " ",
  ),
)
const READ_ONLY_GIT = new Set(["status", "log", "diff", "show", "branch", "remote", "rev-parse", "blame", "describe"])
const FILE_COMMANDS = new Set(["touch", "mkdir", "rm", "rmdir", "mv", "cp", "ln", "chmod"])

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
  const parts = command
    .split(/&&|\|\||;|\||\n/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
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

/** What "always allow" would allow: the first two words where the second is a plain one, else just this command. */
export function rulePrefix(command: string): string {
  const [name = "", next = ""] = command.trim().split(/\s+/)
  return /^[a-z][a-z0-9-]*$/i.test(next) ? `${name} ${next} *` : command
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`)
}

function changedPath(part: string): string | undefined {
  const [name = "", ...words] = part.split(/\s+/)
  return FILE_COMMANDS.has(name) ? words.find((word) => !word.startsWith("-")) : undefined
}

function isReadOnlyPart(part: string): boolean {
  const [name = "", next = ""] = part.split(/\s+/)
  if (name === "git") return READ_ONLY_GIT.has(next)
  if (name === "find" && /-(?:exec|delete|ok)/.test(part)) return false
  return READ_ONLY.has(name) && !/[`]|\$\(/.test(part)
}
