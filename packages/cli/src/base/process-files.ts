import { execFileSync } from "node:child_process"
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { defined, parseObject, textOf } from "@signalbox/protocol/envelope"

/** A file that a process of ours leaves in the data directory, so that others find it. */
export interface ProcessCard {
  readonly pid: number
  /** When the process started, according to the system: a later process may have the same pid. */
  readonly began?: string
  readonly url?: string
}

/** Written beside its place and renamed, so that a reader sees a whole card or none. */
export function writeCard(path: string, card: { readonly url?: string }): void {
  const whole: ProcessCard = { ...card, ...identify(process.pid) }
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(whole)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

/** The card of a running process. */
export function identify(pid: number): ProcessCard {
  return { pid, ...defined({ began: beganAt(pid) }) }
}

/** Removes only our own card: a later process may have written another. */
export function removeCard(path: string): void {
  if (readCard(path)?.pid === process.pid) rmSync(path, { force: true })
}

/** Undefined if the file is not there, or has no whole object yet. */
export function readJson(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parseObject(readFileSync(path, "utf8"))
  } catch {
    return undefined
  }
}

export function readCard(path: string): ProcessCard | undefined {
  const card = readJson(path)
  const pid = card?.["pid"]
  return typeof pid === "number"
    ? { pid, ...defined({ began: textOf(card, "began"), url: textOf(card, "url") }) }
    : undefined
}

/** A card whose process runs: a token must not go to another process that listens at the address of a killed one. */
export function readLivingCard(path: string): ProcessCard | undefined {
  const card = readCard(path)
  return card !== undefined && isAlive(card) ? card : undefined
}

/** Whether the process that wrote the card runs, rather than a later one with the same pid. */
export function isAlive({ pid, began }: ProcessCard): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    // It has ended, or belongs to another user.
    return false
  }
  return began === undefined || beganAt(pid) === began
}

/** Undefined if the system does not tell, and for a zombie. */
function beganAt(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The process name may contain spaces and brackets; the fields after its last bracket do not.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return fields[0] === "Z" ? undefined : fields[19]
    }
    if (process.platform === "win32") return undefined
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim()
  } catch {
    return undefined
  }
}

const MAX_BYTES = 10 * 1024 * 1024
const LOOK_MS = 60_000

/**
 * Keeps about the last ten megabytes of a log, and the ten before in a second file. The log is written by appending, so that it can
 * be emptied under its writer.
 */
export function keepShort(path: string, { maxBytes = MAX_BYTES, lookMs = LOOK_MS } = {}): () => void {
  const look = () => {
    try {
      if (statSync(path).size <= maxBytes) return
      copyFileSync(path, `${path}.1`)
      truncateSync(path)
    } catch {
      // A log that grows is no reason to stop anything.
    }
  }
  look()
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}
