import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs"
import { errorText, systemCode, TransportError } from "../errors.ts"
import type { Closed } from "../transport.ts"
import { lastChars } from "./output-lines.ts"
import type { Exit, SpawnRequest } from "./spawned-process.ts"

const STDERR_IN_MESSAGE_CHARS = 2048

/** The meaning for the connection when a process ends that we did not close. */
export function closedByExit(exit: Exit, stderr: string): Closed {
  if (exit.kind === "code" && exit.code === 0) return { by: "peer", reason: "exit code 0" }
  const error = exitError(exit, stderr)
  if (exit.kind === "code") return { by: "peer", reason: `exit code ${exit.code}`, error }
  return { by: "peer", reason: exit.kind === "signal" ? `signal ${exit.signal}` : exit.error.message, error }
}

function exitError(exit: Exit, stderr: string): TransportError {
  const tail = quoted(stderr)
  if (exit.kind === "code") {
    const details = { exitCode: exit.code, stderr }
    return new TransportError("process/exit", `the process ended with exit code ${exit.code}${tail}`, { details })
  }
  if (exit.kind === "signal") {
    const details = { signal: exit.signal, stderr }
    return new TransportError("process/signal", `the process was ended by ${exit.signal}${tail}`, { details })
  }
  const { error, kind } = exit
  const what = kind === "broken" ? "the process failed" : "the output of the process could not be read"
  const message = `${what}: ${error.message}${tail}`
  return new TransportError("transport/broken", message, { cause: error, details: { kind, stderr } })
}

function quoted(stderr: string): string {
  const tail = lastChars(stderr.trim(), STDERR_IN_MESSAGE_CHARS)
  return tail === "" ? "" : `; its standard error ended with:\n${tail}`
}

/** Why a process did not start. Node's own message names the command whatever the reason was. */
export function spawnFailure(error: unknown, request: SpawnRequest): TransportError {
  const code = systemCode(error)
  return new TransportError("process/spawn-failed", `${request.command} could not be started: ${why(error, request)}`, {
    cause: error,
    details: { command: request.command, ...(request.cwd === undefined ? {} : { cwd: request.cwd }), code },
  })
}

function why(error: unknown, request: SpawnRequest): string {
  const folder = request.cwd === undefined ? undefined : folderProblem(request.cwd)
  const code = systemCode(error)
  if (code === "ENOENT" || code === "ENOTDIR") return folder ?? missingCommand(request.command)
  if (code === "EACCES") return folder ?? "permission denied (it is a directory, or not an executable file)"
  if (code === "E2BIG") return tooBig(request)
  return errorText(error)
}

function folderProblem(cwd: string): string | undefined {
  try {
    return statSync(cwd).isDirectory() ? undefined : `the working directory ${cwd} is not a directory`
  } catch (error) {
    const code = systemCode(error)
    return code === "ENOENT"
      ? `the working directory ${cwd} does not exist`
      : `the working directory ${cwd} cannot be entered (${code ?? String(error)})`
  }
}

function missingCommand(command: string): string {
  if (!command.includes("/")) return "there is no such command on PATH"
  if (!existsSync(command)) return "there is no such file"
  // The file is there: what the system did not find is the program its first line names.
  const interpreter = interpreterOf(command)
  return interpreter === undefined
    ? "the file exists, but the system cannot load it (built for another system?)"
    : `the file exists, but its interpreter ${interpreter} does not`
}

function interpreterOf(path: string): string | undefined {
  const head = Buffer.alloc(256)
  try {
    const file = openSync(path, "r")
    try {
      readSync(file, head)
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
  return /^#!\s*([^\s\0]+)/.exec(head.toString("latin1"))?.[1]
}

function tooBig({ args, env }: SpawnRequest): string {
  const argumentBytes = args.reduce((sum, argument) => sum + Buffer.byteLength(argument), 0)
  const environmentBytes = Object.entries(env).reduce(
    (sum, [name, value]) => sum + name.length + (value ?? "").length,
    0,
  )
  const longest = args.reduce((found, argument, at) => (argument.length > (args[found] ?? "").length ? at : found), 0)
  return [
    `its arguments (${argumentBytes} bytes) and environment (${environmentBytes} bytes) are more than the system takes;`,
    `the longest argument is ${nameOfArgument(args, longest)} with ${(args[longest] ?? "").length} characters`,
    "(Linux takes 128 KiB in one argument)",
  ].join(" ")
}

function nameOfArgument(args: readonly string[], at: number): string {
  const tied = /^--[\w-]+(?==)/.exec(args[at] ?? "")?.[0]
  const before = args[at - 1]
  return tied ?? (before?.startsWith("--") === true ? before : `number ${at + 1}`)
}
