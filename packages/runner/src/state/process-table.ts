import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { promisify } from "node:util"

/** One process of the machine, as far as a runner looks at it. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Tells a process from a later one with the same number. Compared, never read. */
  readonly startedAt: string
  readonly memoryBytes: number
  /** Processor time used so far. */
  readonly cpuMs: number
}

const run = promisify(execFile)

/** Linux counts processor time in these, whatever the kernel's own tick is. */
const TICK_MS = 10
/** Positions of the fields behind the name, from the third on: see proc(5). */
const FIELD = {
  state: 0,
  parent: 1,
  group: 2,
  userTicks: 11,
  systemTicks: 12,
  startTicks: 19,
  residentPages: 21,
} as const
const PS_BYTES = 16 * 1024 * 1024
const PS_TIMEOUT_MS = 10_000

/** Every living process. On a system without either way to look the table is empty. */
export async function processTable(): Promise<readonly ProcessEntry[]> {
  if (process.platform === "linux") return linuxTable()
  if (process.platform === "win32") return []
  return psEntries(["-axo", COLUMNS])
}

/** One process; undefined if it does not live. */
export async function processEntry(pid: number): Promise<ProcessEntry | undefined> {
  if (process.platform === "linux") return linuxEntry(String(pid))
  if (process.platform === "win32") return undefined
  return (await psEntries(["-o", COLUMNS, "-p", String(pid)]))[0]
}

function linuxTable(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => linuxEntry(name) ?? [])
}

function linuxEntry(pid: string): ProcessEntry | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  } catch {
    return undefined
  }
  // The name in parentheses may itself hold spaces and parentheses: the fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const state = fields[FIELD.state]
  if (state === "Z" || state === "X") return undefined
  const number = (field: number) => Number(fields[field])
  return {
    pid: Number(pid),
    parent: number(FIELD.parent),
    group: number(FIELD.group),
    startedAt: `${bootId()}/${fields[FIELD.startTicks] ?? ""}`,
    memoryBytes: number(FIELD.residentPages) * pageBytes(),
    cpuMs: (number(FIELD.userTicks) + number(FIELD.systemTicks)) * TICK_MS,
  }
}

let knownPageBytes: number | undefined

/** Node knows its own memory in bytes and the kernel tells it in pages: what lies between is the size of a page. */
function pageBytes(): number {
  if (knownPageBytes === undefined) {
    const pages = Number(readFileSync("/proc/self/statm", "latin1").split(" ")[1])
    knownPageBytes = 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages))
  }
  return knownPageBytes
}

let knownBootId: string | undefined

/** The start time counts from the boot: after another one the same numbers mean other processes. */
function bootId(): string {
  if (knownBootId === undefined) {
    try {
      knownBootId = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
    } catch {
      knownBootId = ""
    }
  }
  return knownBootId
}

const COLUMNS = "pid=,ppid=,pgid=,rss=,time=,stat=,lstart="

async function psEntries(args: readonly string[]): Promise<ProcessEntry[]> {
  const env = { ...process.env, LC_ALL: "C" }
  const { stdout } = await run("ps", args, { env, maxBuffer: PS_BYTES, timeout: PS_TIMEOUT_MS }).catch(() => ({
    stdout: "",
  }))
  return stdout.split("\n").flatMap((line) => psEntry(line) ?? [])
}

export function psEntry(line: string): ProcessEntry | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d:.-]+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
  if (match === null) return undefined
  const [, pid, parent, group, rssKb, time = "", stat = "", startedAt = ""] = match
  if (stat.startsWith("Z")) return undefined
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    startedAt,
    memoryBytes: Number(rssKb) * 1024,
    cpuMs: clockMs(time),
  }
}

/** `[[dd-]hh:]mm:ss[.cc]` */
function clockMs(time: string): number {
  const [days, rest] = time.includes("-") ? time.split("-") : ["0", time]
  const seconds = (rest ?? "").split(":").reduce((sum, part) => sum * 60 + Number(part), 0)
  return (Number(days) * 86_400 + seconds) * 1000
}

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

/** The use of each of these processes together with all it started: its descendants, and the rest of its group. */
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
