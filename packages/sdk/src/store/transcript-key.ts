import { homedir } from "node:os"
import { isAbsolute, join, relative, sep } from "node:path"
import type { SessionKey } from "../types/session-store.ts"

const ENDING = ".jsonl"

type Environment = Readonly<Record<string, string | undefined>>

/** Where the CLI keeps its own, in an environment. */
export function configFolder(env: Environment): string {
  return env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude")
}

/** The file that the CLI keeps beside its folder, unless the folder was named: then it is in there. */
export function configFile(env: Environment): string {
  return env["CLAUDE_CONFIG_DIR"]
    ? join(env["CLAUDE_CONFIG_DIR"], ".claude.json")
    : join(env["HOME"] || homedir(), ".claude.json")
}

/**
 * The key of a transcript by its path: `<project>/<session>.jsonl`, or `<project>/<session>/…` from two folders down.
 * Undefined for what is none.
 */
export function keyOfTranscript(projects: string, path: string): SessionKey | undefined {
  const below = relative(projects, path)
  if (isAbsolute(below)) return undefined
  const [projectKey = "", second = "", ...rest] = below.split(sep)
  if (projectKey === "" || projectKey === "..") return undefined
  if (rest.length === 0) {
    return second.endsWith(ENDING) ? { projectKey, sessionId: second.slice(0, -ENDING.length) } : undefined
  }
  if (rest.length === 1) return undefined
  const subpath = rest.join("/")
  return {
    projectKey,
    sessionId: second,
    subpath: subpath.endsWith(ENDING) ? subpath.slice(0, -ENDING.length) : subpath,
  }
}
