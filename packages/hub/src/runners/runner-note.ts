import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { AgentExit, RunnerNote } from "@signalbox/protocol/runner-wire"

const MAX_TEXT_CHARS = 16 * 1024

/** A runner's note, looked at: a newer runner may have others. */
export function readNote(value: unknown): RunnerNote | undefined {
  if (!isObject(value)) return undefined
  if (value["kind"] === "exited") return { kind: "exited", exit: readExit(fieldOf(value, "exit") ?? {}) }
  if (value["kind"] !== "hook-answered") return undefined
  const how = value["how"] === "block" ? "block" : "open"
  return { kind: "hook-answered", requestId: textOf(value, "requestId") ?? "", how }
}

function readExit(value: Readonly<Record<string, unknown>>): AgentExit {
  const { code, undelivered, lastReceived } = value
  const signal = textOf(value, "signal")
  const stderrTail = textOf(value, "stderrTail")?.slice(-MAX_TEXT_CHARS)
  return {
    reason: textOf(value, "reason")?.slice(0, MAX_TEXT_CHARS) ?? "its process ended",
    ...(typeof code === "number" && Number.isInteger(code) ? { code } : {}),
    ...(signal === undefined ? {} : { signal }),
    ...(stderrTail === undefined || stderrTail === "" ? {} : { stderrTail }),
    ...(value["parked"] === true ? { parked: true } : {}),
    ...(Array.isArray(undelivered) ? { undelivered: undelivered.filter((uuid) => typeof uuid === "string") } : {}),
    ...(lastReceived === null || typeof lastReceived === "string" ? { lastReceived } : {}),
  }
}
