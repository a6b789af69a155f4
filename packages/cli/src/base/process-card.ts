import { execFileSync } from "node:child_process"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"

/** What a process of ours leaves in the data directory, so that others find it. */
export interface ProcessCard {
  readonly pid: number
  /** When the process began, as the system tells it: a number that was given away again is another's. */
  readonly began?: string
  readonly url?: string
}

/** Written beside and renamed over: a reader sees a whole card or none. */
export function writeCard(path: string, card: { readonly url?: string }): void {
  const whole: ProcessCard = { ...card, ...identify(process.pid) }
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(whole)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

/** A process that lives now. */
export function identify(pid: number): ProcessCard {
  const began = beganAt(pid)
  return { pid, ...(began === undefined ? {} : { began }) }
}

/** Only one's own: whoever came after has written another. */
export function removeCard(path: string): void {
  if (readCard(path)?.pid === process.pid) rmSync(path, { force: true })
}

export function readCard(path: string): ProcessCard | undefined {
  try {
    const card: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (typeof card !== "object" || card === null || !("pid" in card) || typeof card.pid !== "number") return undefined
    return {
      pid: card.pid,
      ...("began" in card && typeof card.began === "string" ? { began: card.began } : {}),
      ...("url" in card && typeof card.url === "string" ? { url: card.url } : {}),
    }
  } catch {
    return undefined
  }
}

/** Only while its process lives: a token must not go to whoever listens at the address of one that was killed. */
export function readLivingCard(path: string): ProcessCard | undefined {
  const card = readCard(path)
  return card !== undefined && isAlive(card) ? card : undefined
}

/** Whether the process that wrote the card lives, and not another that got its number since. */
export function isAlive({ pid, began }: ProcessCard): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    // Gone, or somebody else's, and so not ours.
    return false
  }
  return began === undefined || beganAt(pid) === began
}

/** Undefined where the system does not tell, and of a process that has ended and waits to be buried. */
function beganAt(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The name may have spaces and brackets in it; what follows its last one has not.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return fields[0] === "Z" ? undefined : fields[19]
    }
    if (process.platform === "win32") return undefined
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim()
  } catch {
    return undefined
  }
}
