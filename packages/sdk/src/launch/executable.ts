import { accessSync, constants } from "node:fs"
import { claudeProcessEnvironment } from "@signalbox/transport/claude-environment"
import { findClaude } from "@signalbox/transport/find-claude"
import { SdkError } from "../base/errors.ts"
import type { Options } from "../types/options.ts"
import { environmentOf } from "./capture.ts"
import { startFailure } from "./failures.ts"

export interface Executable {
  readonly command: string
  readonly args: readonly string[]
}

/** The program to run when another maker starts the process and nobody named one: it will know where its own is. */
const BY_NAME = "claude"

/** The program to start, and what stands before its flags. Throws `process/not-found`. */
export function executableFor(options: Options, env: Record<string, string>): Executable {
  const { pathToClaudeCodeExecutable: path, executable, executableArgs = [] } = options
  // Another maker may start it on another machine: our file system says nothing about that one.
  if (options.spawnClaudeCodeProcess !== undefined) return elsewhere(options)
  const found = findClaude({ env, explicit: path })
  const [script] = found.args
  return script === undefined || isProgramOfItsOwn(found.path)
    ? { command: found.path, args: executableArgs }
    : { command: executable ?? found.command, args: [...executableArgs, script] }
}

/** The official package gives this one kind of script to no runtime; one that could not be executed is given to ours. */
function isProgramOfItsOwn(path: string): boolean {
  if (!path.endsWith(".cjs")) return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function elsewhere({
  pathToClaudeCodeExecutable: path = BY_NAME,
  executable,
  executableArgs = [],
}: Options): Executable {
  return /\.(?:m?js|tsx?|jsx)$/.test(path)
    ? { command: executable ?? "node", args: [...executableArgs, path] }
    : { command: path, args: executableArgs }
}

/** Throws at once when nobody said which agent to run and none is to be found anywhere, as the official package does. */
export function requireExecutable({ pathToClaudeCodeExecutable, spawnClaudeCodeProcess, env }: Options): void {
  if (pathToClaudeCodeExecutable !== undefined || spawnClaudeCodeProcess !== undefined) return
  try {
    findClaude({ env: env ?? process.env })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const details = "details" in error && typeof error.details === "object" ? { ...error.details } : {}
    throw new SdkError("process/not-found", error.message, { name: "ReferenceError", cause: error, details })
  }
}

/** As `requireExecutable`, for one that was named: the 0.2 series looked for it at once. */
export function requireNamedExecutable({ pathToClaudeCodeExecutable: explicit, env }: Options): void {
  if (explicit === undefined) return
  try {
    findClaude({ env: env ?? process.env, explicit })
  } catch (error) {
    const failure = startFailure(error, explicit)
    // One that is there and cannot be started is told of when it is.
    if (failure instanceof SdkError && failure.code === "process/not-found") throw failure
  }
}

/** The CLI reads from these which generation of the official package it talks to; we speak that generation's wire. */
const SPEAKS_LIKE = { entrypoint: "sdk-ts", version: "0.3.325" }

/** As the CLI reads its own switches. */
const TRUTHY: ReadonlySet<string> = new Set(["1", "true", "yes", "on"])

export interface EnvironmentOptions {
  /** Started ahead of its prompt. */
  readonly isWarm: boolean
}

/** The agent's whole environment. `options.env` stands in for ours, it is not added to it. */
export function environmentFor(options: Options, { isWarm }: EnvironmentOptions): Record<string, string> {
  const base = environmentOf(options)
  const previewFormat = options.toolConfig?.askUserQuestion?.previewFormat
  return claudeProcessEnvironment(base, {
    entrypoint: SPEAKS_LIKE.entrypoint,
    debug: TRUTHY.has(base["DEBUG_CLAUDE_AGENT_SDK"]?.trim().toLowerCase() ?? ""),
    enableFileCheckpointing: options.enableFileCheckpointing === true,
    env: {
      // On Windows no program is then found in the current folder by accident. An environment of the program's is its own.
      ...(options.env === undefined ? { NoDefaultCurrentDirectoryInExePath: "1" } : {}),
      // One that we only inherit is that of whoever started us.
      CLAUDE_AGENT_SDK_VERSION: options.env?.["CLAUDE_AGENT_SDK_VERSION"] || SPEAKS_LIKE.version,
      // Makes the CLI say when it is idle: that is how the end of a run is known.
      CLAUDE_CODE_SDK_READS_SESSION_STATE: base["CLAUDE_CODE_SDK_READS_SESSION_STATE"] ?? "1",
      ...(isWarm ? { CLAUDE_CODE_SDK_READS_STARTUP_MARKS: "1" } : {}),
      ...(previewFormat === undefined ? {} : { CLAUDE_CODE_QUESTION_PREVIEW_FORMAT: previewFormat }),
    },
  })
}
