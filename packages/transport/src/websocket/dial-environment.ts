import { readFileSync } from "node:fs"
import { TransportError } from "../errors.ts"
import type { Environment } from "../process/environment.ts"

/** What a CLI on `--sdk-url` takes from its environment. */
export interface DialEnvironment {
  readonly token: string | undefined
  /** `CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION` */
  readonly environmentRunnerVersion: string | undefined
  /** `CLAUDE_CODE_REMOTE`: a remote session sends no `keep_alive` lines. */
  readonly remote: boolean
  /** `CLAUDE_CODE_REMOTE_SESSION_ID` */
  readonly remoteSessionId: string | undefined
  /** `CLAUDE_CODE_CONTAINER_ID` */
  readonly containerId: string | undefined
  /** `CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2`: receive by WebSocket, send by POST. */
  readonly postsEvents: boolean
}

/** Throws transport/misconfigured when a file descriptor is named for the token and cannot be read. */
export function readDialEnvironment(env: Environment): DialEnvironment {
  return {
    token: readSessionToken(env),
    environmentRunnerVersion: nonEmpty(env["CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION"]),
    remote: isTruthy(env["CLAUDE_CODE_REMOTE"]),
    remoteSessionId: nonEmpty(env["CLAUDE_CODE_REMOTE_SESSION_ID"]),
    containerId: nonEmpty(env["CLAUDE_CODE_CONTAINER_ID"]),
    postsEvents: isTruthy(env["CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2"]),
  }
}

/** The token itself, else what the named file descriptor holds, else none. */
export function readSessionToken(env: Environment): string | undefined {
  const token = nonEmpty(env["CLAUDE_CODE_SESSION_ACCESS_TOKEN"])
  if (token !== undefined) return token
  const descriptor = nonEmpty(env["CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR"])
  return descriptor === undefined ? undefined : readTokenFrom(descriptor)
}

function readTokenFrom(descriptor: string): string {
  if (!/^\d{1,9}$/.test(descriptor)) throw unreadable(descriptor, "it is not a number")
  let text: string
  try {
    text = readDescriptor(Number(descriptor))
  } catch (cause) {
    throw unreadable(descriptor, cause instanceof Error ? cause.message : String(cause), cause)
  }
  const token = text.trim()
  if (token === "") throw unreadable(descriptor, "it is empty")
  return token
}

/** By its name first: opening it anew reads a file from its start even when somebody has read it before. */
function readDescriptor(descriptor: number): string {
  try {
    return readFileSync(`/dev/fd/${descriptor}`, "utf8")
  } catch {
    return readFileSync(descriptor, "utf8")
  }
}

function unreadable(descriptor: string, why: string, cause?: unknown): TransportError {
  const text = `cannot read the token from file descriptor ${descriptor} (CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR): ${why}`
  return new TransportError("transport/misconfigured", text, cause === undefined ? {} : { cause })
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value
}

/** The words the real CLIs take for yes; with any other, `2` and `maybe` too, they stay as they are. */
function isTruthy(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes(value?.trim().toLowerCase() ?? "")
}
