import { TransportError } from "../errors.ts"
import type { Closed } from "../transport.ts"
import type { Exit } from "./spawned-process.ts"
import { lastChars } from "./stderr-tail.ts"

const STDERR_IN_MESSAGE_CHARS = 2048

/** What the end of a process that we did not close means to the connection. */
export function closedByExit(exit: Exit, stderr: string): Closed {
  switch (exit.kind) {
    case "code": {
      const reason = `exit code ${exit.code}`
      if (exit.code === 0) return { by: "peer", reason }
      const message = `the process ended with exit code ${exit.code}${quoted(stderr)}`
      const details = { exitCode: exit.code, stderr }
      return { by: "peer", reason, error: new TransportError("process/exit", message, { details }) }
    }
    case "signal": {
      const message = `the process was ended by ${exit.signal}${quoted(stderr)}`
      const details = { signal: exit.signal, stderr }
      const error = new TransportError("process/signal", message, { details })
      return { by: "peer", reason: `signal ${exit.signal}`, error }
    }
    case "broken": {
      const message = `the process failed: ${exit.error.message}${quoted(stderr)}`
      const error = new TransportError("transport/broken", message, { cause: exit.error, details: { stderr } })
      return { by: "peer", reason: exit.error.message, error }
    }
  }
}

function quoted(stderr: string): string {
  const tail = lastChars(stderr.trim(), STDERR_IN_MESSAGE_CHARS)
  return tail === "" ? "" : `; its standard error ended with:\n${tail}`
}
