import { TransportError } from "@signalbox/transport/errors"
import { aborted, SdkError } from "../base/errors.ts"
import { textOf } from "../base/wire.ts"
import type { LinkEnd } from "./open-agent.ts"

/** As much as the official package quotes; `details.stderr` has more. */
const STDERR_CHARS = 2048
const REMEDY =
  "Please ensure Claude Code is installed via native installer or specify a valid path with options.pathToClaudeCodeExecutable."

/** Why an agent did not start. The first sentences are the official package's, as is the odd name. */
export function startFailure(error: unknown, path: string | undefined): Error {
  if (!(error instanceof TransportError)) return error instanceof Error ? error : new Error(String(error))
  if (error.code === "transport/closed") return aborted(error.cause)
  const details = error.details
  const problem = textOf(details, "problem")
  if (error.code === "process/not-found" && path !== undefined && problem !== undefined) {
    const message = `Claude Code native binary at ${path} exists but failed to launch: it ${problem}`
    return new SdkError("process/spawn-failed", message, { name: "ReferenceError", cause: error, details })
  }
  if (error.code === "process/not-found") {
    const message = path === undefined ? error.message : `Claude Code native binary not found at ${path}. ${REMEDY}`
    return new SdkError("process/not-found", message, { name: "ReferenceError", cause: error, details })
  }
  const message = `Claude Code executable${path === undefined ? "" : ` at ${path}`} failed to launch: ${error.message}`
  return new SdkError("process/spawn-failed", message, { name: "ReferenceError", cause: error, details })
}

function endFailure(error: TransportError): SdkError {
  const { exitCode, signal, stderr } = error.details
  const options = { cause: error, details: error.details }
  if (error.code === "process/exit") {
    const message = `Claude Code process exited with code ${String(exitCode)}${quoted(stderr)}`
    return new SdkError("process/exit", message, options)
  }
  if (error.code === "process/signal") {
    const message = `Claude Code process terminated by signal ${String(signal)}${quoted(stderr)}`
    return new SdkError("process/signal", message, options)
  }
  const cause = error.cause instanceof Error ? error.cause.message : error.message
  const what = error.details["kind"] === "unreadable" ? "Failed to read from" : "Failed to spawn"
  return new SdkError("process/broken", `${what} Claude Code process: ${cause}`, options)
}

/** The agent's words before its end came. */
export interface Course {
  /** The text of its last result, if that was one of failure. */
  readonly lastError: string | undefined
}

/** The error that the program gets for the end of an agent that we did not end; undefined if it was an orderly end. */
export function failureOf({ error }: LinkEnd, { lastError }: Course): SdkError | undefined {
  if (error === undefined || error instanceof SdkError) return error
  const failure = endFailure(error)
  if (lastError === undefined || lastError === "") return failure
  const message = `Claude Code returned an error result: ${lastError}`
  return new SdkError("result/error", message, { cause: failure, details: failure.details })
}

function quoted(stderr: unknown): string {
  const text = typeof stderr === "string" ? stderr.slice(-STDERR_CHARS).trim() : ""
  return text === "" ? "" : `. stderr: ${text}`
}
