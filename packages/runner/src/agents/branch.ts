import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

const HEAD = "ref: refs/heads/"
/** Reftables keep the branch elsewhere, and say this here. */
const NOT_HERE = ".invalid"
const MAX_BYTES = 4096
const MAX_DEPTH = 128

/**
 * The branch that a folder is on; empty when it is on none; undefined when that cannot be told. Read from git's own file, as a
 * process for each question would take longer than the rule that wants to know. An agent can write these files: nothing in
 * them may hold up the runner.
 */
export function branchOf(folder: string): string | undefined {
  const found = repositoryOf(folder)
  return found === "none" ? "" : branchIn(found?.git)
}

/** Whether git would find a repository here. */
export function isInRepository(folder: string): boolean {
  const found = repositoryOf(folder)
  return found !== "none" && found?.git !== undefined
}

/** Undefined when it cannot be told. */
function repositoryOf(folder: string): { readonly git: string | undefined } | "none" | undefined {
  let place = resolve(folder)
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const git = join(place, ".git")
    const kind = kindOf(git)
    if (kind === "other") return undefined
    if (kind === "file") return { git: linkedFolder(git, place) }
    // A folder of that name alone is no repository: git looks on above it.
    if (kind === "folder" && isRepository(git)) return { git }
    if (dirname(place) === place) return "none"
    place = dirname(place)
  }
  return undefined
}

function branchIn(git: string | undefined): string | undefined {
  const head = git === undefined ? undefined : firstLine(join(git, "HEAD"))
  if (head === undefined) return undefined
  if (!head.startsWith(HEAD)) return /^[0-9a-f]{40,64}$/.test(head) ? "" : undefined
  const branch = head.slice(HEAD.length)
  return branch === "" || branch === NOT_HERE || /[\s\p{C}]/u.test(branch) ? undefined : branch
}

function isRepository(git: string): boolean {
  return ["objects", "refs"].every((part) => kindOf(join(git, part)) !== "none")
}

/** A worktree's `.git` is a file that names the folder. */
function linkedFolder(file: string, place: string): string | undefined {
  const line = firstLine(file)
  return line?.startsWith("gitdir: ") === true ? resolve(place, line.slice("gitdir: ".length)) : undefined
}

function kindOf(path: string): "folder" | "file" | "none" | "other" {
  try {
    const found = lstatSync(path)
    if (found.isDirectory()) return "folder"
    return found.isFile() ? "file" : "other"
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "none" : "other"
  }
}

/** Undefined for what is no short file with one line: a pipe would never end, and a link is another file's. */
function firstLine(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    if (!fstatSync(file).isFile()) return undefined
    const bytes = Buffer.alloc(MAX_BYTES)
    const text = bytes.subarray(0, readSync(file, bytes, 0, MAX_BYTES, 0)).toString()
    const end = text.indexOf("\n")
    return end === -1 ? undefined : text.slice(0, end).trimEnd()
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
