import { copyFileSync, statSync, truncateSync } from "node:fs"

const MAX_BYTES = 10 * 1024 * 1024
const LOOK_MS = 60_000

/**
 * A log that would grow as long as the process lives keeps its last ten megabytes or so, and the ten before in a second file.
 * It is written by appending, so that it can be emptied under the writer.
 */
export function keepShort(path: string, { maxBytes = MAX_BYTES, lookMs = LOOK_MS } = {}): () => void {
  const look = () => {
    try {
      if (statSync(path).size <= maxBytes) return
      copyFileSync(path, `${path}.1`)
      truncateSync(path)
    } catch {
      // A log that cannot be kept short is no reason to end anything.
    }
  }
  look()
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}
