import { TransportError } from "../errors.ts"
import type { Closed } from "../transport.ts"
import type { Exit } from "./spawned-process.ts"
import { lastChars } from "./stderr-tail.ts"

const STDERR_IN_MESSAGE_CHARS = 2048

/** What the end of a process that we did not close means to the connection. */
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
