import { execFile } from "node:child_process"
import { lstat, readdir, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { firstText, readExcerpt } from "./excerpt.ts"

/** Longer names are cut here and get a hash of the whole path, as the CLI does it. */
const MAX_NAME_CHARS = 200
/** As many transcripts are looked into to tell whose a folder is. */
const MAX_LOOKED_INTO = 50

/** Where the CLI keeps the transcripts of all projects. Read anew each time: a program may change its environment. */
function projectsRoot(): string {
  const config = process.env["CLAUDE_CONFIG_DIR"]
  return join(config === undefined || config === "" ? join(homedir(), ".claude") : config, "projects")
}

/** The path that the CLI would have been started with: links resolved, as far as the folder still exists. */
export async function canonicalPath(dir: string): Promise<string> {
  return realpath(dir).catch(() => dir)
}

/** A session store's key of a working directory: the name of its folder on disk. */
export async function projectKeyOf(dir: string): Promise<string> {
  return projectFolderName(await canonicalPath(dir))
}

/** The name of the folder that holds the transcripts of a working directory. */
function projectFolderName(path: string): string {
  const name = dashed(path)
  return name.length <= MAX_NAME_CHARS ? name : `${name.slice(0, MAX_NAME_CHARS)}-${pathHash(path)}`
}

/**
 * The folders that hold the transcripts of a working directory. A long path may have several: a CLI that runs on another
 * engine hashes it differently, so a folder with the same beginning counts if a session in it was at work there.
 */
export async function projectFolders(path: string): Promise<string[]> {
  const root = projectsRoot()
  const own = join(root, projectFolderName(path))
  if (dashed(path).length <= MAX_NAME_CHARS) return [own]
  const beginning = `${dashed(path).slice(0, MAX_NAME_CHARS)}-`
  const alike = (await readdir(root).catch(() => []))
    .filter((name) => name.startsWith(beginning))
    .map((name) => join(root, name))
    .filter((folder) => folder !== own)
  const worked = await Promise.all(alike.map((folder) => hasWorkedAt(folder, path)))
  return [own, ...alike.filter((_, at) => worked[at])]
}

/** Every project's folder, by its name; links to folders are among them only if asked for. */
export async function allProjectFolders({ withLinks }: { withLinks: boolean }): Promise<string[]> {
  const root = projectsRoot()
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => withLinks || entry.isDirectory()).map((entry) => join(root, entry.name))
}

async function hasWorkedAt(folder: string, path: string): Promise<boolean> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".jsonl"))
  for (const name of names.slice(0, MAX_LOOKED_INTO)) {
    const { size } = await lstat(join(folder, name)).catch(() => ({ size: 0 }))
    const excerpt = size === 0 ? undefined : await readExcerpt(join(folder, name), size)
    if (excerpt !== undefined && firstText(excerpt.head, "cwd") === path) return true
  }
  return false
}

function dashed(path: string): string {
  return path.replaceAll(/[^a-zA-Z0-9]/g, "-")
}

function pathHash(path: string): string {
  let hash = 0
  for (let at = 0; at < path.length; at++) hash = (Math.imul(hash, 31) + path.charCodeAt(at)) | 0
  return Math.abs(hash).toString(36)
}

const GIT_TIMEOUT_MS = 5_000
const MAX_OUTPUT_BYTES = 1024 * 1024

/** The git worktrees of the repository that a folder belongs to, the main one included; none outside a repository. */
export async function worktreesOf(dir: string): Promise<string[]> {
  const output = await new Promise<string>((resolve) => {
    execFile(
      "git",
      ["worktree", "list", "--porcelain"],
      { cwd: dir, timeout: GIT_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true },
      // No git, no folder, no repository: a session is then looked for in its own folder only.
      (error, stdout) => resolve(error === null ? stdout : ""),
    )
  })
  return output
    .split("\n")
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice("worktree ".length))
}
