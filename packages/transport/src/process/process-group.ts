import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { systemCode } from "../errors.ts"
import { OWN_GROUP, type SpawnedProcess } from "./spawned-process.ts"

/** A process together with everything it started that did not leave its group. */
export interface ProcessGroup {
  signal(signal: NodeJS.Signals): void
  /** Whether nothing of the group is left, waiting for it as long as this. Says nothing about the first process itself. */
  isGoneWithin(ms: number): Promise<boolean>
}

const FIRST_LOOK_MS = 5
const LONGEST_LOOK_MS = 200

/** The group that a process started here leads. It keeps its number while it has a member, so the number is not reused. */
export function ledGroup(child: SpawnedProcess): ProcessGroup {
  const { pid } = child
  return OWN_GROUP && pid !== undefined ? new LedGroup(pid, child) : loneProcess(child)
}

/** A process of another maker: only it can be reached, and what it leaves behind is its maker's business. */
export function loneProcess(child: SpawnedProcess): ProcessGroup {
  return {
    signal(signal) {
      try {
        child.kill(signal)
      } catch {
        // It is another maker's method; an end that is under way must not stop at it.
      }
    },
    isGoneWithin: async () => true,
  }
}

class LedGroup implements ProcessGroup {
  readonly #id: number
  readonly #leader: SpawnedProcess

  constructor(id: number, leader: SpawnedProcess) {
    this.#id = id
    this.#leader = leader
  }

  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#id, signal)
    } catch (error) {
      // Some systems refuse a whole group when one of its members is out of reach; the leader is still ours.
      if (systemCode(error) !== "ESRCH") loneProcess(this.#leader).signal(signal)
    }
  }

  /** Only a process's parent is told of its end, so the rest of the group has to be looked at. */
  async isGoneWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    for (let wait = FIRST_LOOK_MS; this.#lives(); wait = Math.min(wait * 2, LONGEST_LOOK_MS)) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      await delay(Math.min(wait, left))
    }
    return true
  }

  #lives(): boolean {
    try {
      process.kill(-this.#id, 0)
    } catch (error) {
      return systemCode(error) !== "ESRCH"
    }
    return process.platform !== "linux" || hasLivingMember(this.#id)
  }
}

/** The dead that nobody has collected still answer to a signal; in a container without an init they do so for ever. */
function hasLivingMember(group: number): boolean {
  try {
    return readdirSync("/proc").some((entry) => /^\d+$/.test(entry) && isLivingMember(entry, group))
  } catch {
    return true
  }
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name in parentheses may itself hold spaces and parentheses: the fields are counted from the last one.
    const [state, , memberOf] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return Number(memberOf) === group && state !== "Z" && state !== "X"
  } catch {
    return false
  }
}
