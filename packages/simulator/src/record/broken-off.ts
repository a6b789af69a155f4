import type { Replay } from "./replay-schema.ts"

/** What whoever plays or converts a recording should know of its end; nothing where it has a whole one. */
export function brokenOff(replay: Replay, path: string, cutOffAt?: number): string | undefined {
  const where = cutOffAt === undefined ? path : `${path}:${cutOffAt}`
  const isCut = cutOffAt === undefined ? "" : "its last line is cut off, and passed over; "
  if (endsMidTurn(replay)) {
    return `${where}: ${isCut}the recording ends in the middle of a turn: no result comes after its last message`
  }
  return cutOffAt === undefined ? undefined : `${where}: ${isCut}what was recorded before it is whole`
}

/** A turn was begun, and its result never came. A process that ended with a code meant to. */
function endsMidTurn({ replay, exitCode }: Replay): boolean {
  if (exitCode !== undefined) return false
  let isRunning = false
  for (const step of replay) {
    if ("user" in step) isRunning = true
    if ("emit" in step && step.emit.type === "result") isRunning = false
  }
  return isRunning
}
