import type { ProcessEntry } from "../state/process-table.ts"

export interface TreeUsage {
  readonly memoryBytes: number
  /** Per cent of one core, since the sample before. */
  readonly cpuPercent: number
}

/** Processor time of each process at the time of a sample. */
export interface CpuSample {
  readonly at: number
  readonly byPid: ReadonlyMap<number, number>
}

/** What each of these processes uses together with all it started: its descendants, and the rest of its group. */
export function usageOfTrees(
  roots: readonly number[],
  table: readonly ProcessEntry[],
  { before, now }: { before: CpuSample | undefined; now: number },
): ReadonlyMap<number, TreeUsage> {
  const owners = ownersOf(new Set(roots), table)
  const sums = new Map<number, { memoryBytes: number; cpuMs: number }>()
  for (const entry of table) {
    const root = owners.get(entry.pid)
    if (root === undefined) continue
    const sum = sums.get(root) ?? { memoryBytes: 0, cpuMs: 0 }
    sum.memoryBytes += entry.memoryBytes
    // One that was not there before has used all of its time since.
    sum.cpuMs += entry.cpuMs - (before?.byPid.get(entry.pid) ?? 0)
    sums.set(root, sum)
  }
  const elapsedMs = before === undefined ? 0 : now - before.at
  const usage = new Map<number, TreeUsage>()
  for (const [root, { memoryBytes, cpuMs }] of sums) {
    const cpuPercent = elapsedMs > 0 ? Math.max(0, Math.round((cpuMs / elapsedMs) * 1000) / 10) : 0
    usage.set(root, { memoryBytes, cpuPercent })
  }
  return usage
}

/** Maps each process to the root it belongs to, if any. */
function ownersOf(roots: ReadonlySet<number>, table: readonly ProcessEntry[]): ReadonlyMap<number, number> {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]))
  const owners = new Map<number, number>()
  for (const entry of table) {
    const climbed = new Set<number>()
    for (
      let at: ProcessEntry | undefined = entry;
      at !== undefined && !climbed.has(at.pid);
      at = byPid.get(at.parent)
    ) {
      climbed.add(at.pid)
      const root = roots.has(at.pid) ? at.pid : roots.has(at.group) ? at.group : undefined
      if (root === undefined) continue
      owners.set(entry.pid, root)
      break
    }
  }
  return owners
}

export function cpuSample(table: readonly ProcessEntry[], at: number): CpuSample {
  return { at, byPid: new Map(table.map(({ pid, cpuMs }) => [pid, cpuMs])) }
}
