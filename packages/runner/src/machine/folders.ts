import { readdir, realpath, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import type { RunnerFolders } from "@signalbox/protocol/runner-wire"
import { Refusal } from "../errors.ts"

const MAX_LISTED = 500

/** The folders within one, by name, the hidden ones last. */
export async function listFolders(path: string = homedir()): Promise<RunnerFolders> {
  if (!isAbsolute(path))
    throw new Refusal("runner/no-folder", `${path} is not an absolute path: begin it at the root, or with ~/`)
  const entries = await readdir(path, { withFileTypes: true }).catch((cause: unknown) => {
    throw new Refusal("runner/no-folder", `${path} cannot be listed on this machine: choose another folder`, { cause })
  })
  const named = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name)
  const names = named.sort((a, b) => Number(a.startsWith(".")) - Number(b.startsWith(".")) || a.localeCompare(b))
  const listed = await Promise.all(names.slice(0, MAX_LISTED).map((name) => describe(join(path, name), name)))
  const place = await realpath(path)
  const parent = dirname(place)
  return {
    path: place,
    parent: parent === place ? null : parent,
    folders: listed.flatMap((folder) => folder ?? []),
    more: names.length > MAX_LISTED,
  }
}

async function describe(path: string, name: string) {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || !found.isDirectory()) return undefined
  const git = await stat(join(path, ".git")).catch(() => undefined)
  return { name, path, isGit: git !== undefined }
}

/** `~` and what is below it, as a shell on this machine has it. Another user's home is not looked up. */
export function expandHome(path: string): string {
  if (path === "~") return homedir()
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path
}

/** Whether two paths lead to one folder, links resolved. */
export async function isSamePlace(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => path)))
  return a === b
}
