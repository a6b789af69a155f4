import { accessSync, constants, statSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { TransportError } from "../errors.ts"
import type { Environment } from "./environment.ts"

export type FileKind = "executable" | "plain-file" | "directory" | "missing"

export interface FindClaudeOptions {
  readonly env?: Environment
  /** A path (or the name of a command on PATH) that somebody asked for: it is this one or none. */
  readonly explicit?: string | undefined
  readonly home?: string
  /** The kind of file at a path. */
  readonly fileKind?: (path: string) => FileKind
}

/** How to start the CLI: `spawn(command, [...args, ...flags])`. */
export interface ClaudeExecutable {
  readonly path: string
  readonly foundBy: "explicit" | "CLAUDE_BIN" | "well-known" | "PATH"
  readonly command: string
  readonly args: readonly string[]
}

type Candidate = Pick<ClaudeExecutable, "path" | "foundBy">
type Probe = (path: string) => FileKind

const NAME = process.platform === "win32" ? "claude.exe" : "claude"
const DESCRIPTION: Readonly<Record<FileKind, string>> = {
  executable: "is executable",
  "plain-file": "is not executable",
  directory: "is a directory",
  missing: "does not exist",
}
const WHAT_TO_DO = "Install it (npm install -g @anthropic-ai/claude-code), or set CLAUDE_BIN to its path."

/** Finds the `claude` executable: what was asked for, `CLAUDE_BIN`, the usual places, then PATH. */
export function findClaude(options: FindClaudeOptions = {}): ClaudeExecutable {
  const env = options.env ?? process.env
  const probe = options.fileKind ?? fileKind
  const folders = pathFolders(env)
  if (options.explicit !== undefined) return requireNamed(options.explicit, "explicit", { probe, folders })
  const named = env["CLAUDE_BIN"]
  if (named !== undefined && named !== "") return requireNamed(named, "CLAUDE_BIN", { probe, folders })
  // An empty home would make the current folder one, and what lies there is not to be run by accident.
  const wellKnown = wellKnownPaths(options.home || env["HOME"] || homedir())
  const candidates: Candidate[] = [
    ...wellKnown.map((path) => ({ path, foundBy: "well-known" }) as const),
    ...folders.map((folder) => ({ path: join(folder, NAME), foundBy: "PATH" }) as const),
  ]
  const found = candidates.find(({ path }) => probe(path) === "executable")
  if (found === undefined) throw notFound({ wellKnown, folders, probe })
  return runnable(found)
}

/** Somebody named this one, so that quietly running another would be worse than stopping. */
function requireNamed(
  name: string,
  foundBy: "explicit" | "CLAUDE_BIN",
  { probe, folders }: { probe: Probe; folders: readonly string[] },
): ClaudeExecutable {
  const isPath = /[\\/]/.test(name) || isScript(name)
  const paths = isPath ? [resolve(name)] : folders.map((folder) => join(folder, name))
  // Node reads a script, so that its own permission to be executed does not matter.
  const found = paths.find((path) => probe(path) === "executable" || (probe(path) === "plain-file" && isScript(path)))
  if (found !== undefined) return runnable({ path: found, foundBy })
  const said = foundBy === "explicit" ? "the claude executable that was asked for" : "CLAUDE_BIN"
  const kind = isPath ? probe(resolve(name)) : "missing"
  const problem = isPath ? DESCRIPTION[kind] : "is not a command on PATH"
  throw new TransportError("process/not-found", `${said} is ${name}, which ${problem}. ${REMEDY[foundBy]}`, {
    details: { looked: paths, ...(kind === "missing" ? {} : { problem }) },
  })
}

const REMEDY = {
  explicit: "Give the path of an executable file, or none to have it looked for.",
  CLAUDE_BIN: "Set it to the path of an executable file, or unset it to have claude looked for.",
} as const

function notFound(places: { wellKnown: readonly string[]; folders: readonly string[]; probe: Probe }): TransportError {
  const { wellKnown, folders, probe } = places
  const looked = [...wellKnown, ...folders.map((folder) => join(folder, NAME))]
  const passedOver = looked
    .map((path) => [path, probe(path)] as const)
    .filter(([, kind]) => kind !== "missing")
    .map(([path, kind]) => `\n  ${path} ${DESCRIPTION[kind]}`)
  const message = [
    "claude was not found. Looked at:",
    "\n  CLAUDE_BIN (not set)",
    ...wellKnown.map((path) => `\n  ${path}`),
    folders.length === 0 ? "\n  PATH (empty)" : `\n  PATH: ${folders.join(delimiter)}`,
    ...(passedOver.length === 0 ? [] : ["\nPassed over:", ...passedOver]),
    `\n${WHAT_TO_DO}`,
  ]
  return new TransportError("process/not-found", message.join(""), { details: { looked } })
}

function wellKnownPaths(home: string): string[] {
  const local = join(home, ".claude", "local", NAME)
  return process.platform === "win32" ? [local] : [local, join("/usr/local/bin", NAME)]
}

/** An empty entry means the current folder to a shell; a program found there by accident is not one to run. */
function pathFolders(env: Environment): string[] {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  return [...new Set(folders.map((folder) => resolve(folder)))]
}

function runnable(candidate: Candidate): ClaudeExecutable {
  return isScript(candidate.path)
    ? { ...candidate, command: process.execPath, args: [candidate.path] }
    : { ...candidate, command: candidate.path, args: [] }
}

function isScript(path: string): boolean {
  return /\.(?:[cm]?js|jsx|tsx?)$/.test(path)
}

function fileKind(path: string): FileKind {
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) return "directory"
    if (!stat.isFile()) return "missing"
  } catch {
    return "missing"
  }
  try {
    accessSync(path, constants.X_OK)
    return "executable"
  } catch {
    return "plain-file"
  }
}
