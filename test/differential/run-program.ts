import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { claudeEnvironment } from "@signalbox/simulator"
import { ensureClaude } from "../../scripts/claude-cli.mjs"
import { normalise, type Place } from "./normalise.ts"
import { type CompiledPrograms, fakesFolder } from "./packages.ts"

interface Observation {
  readonly channel: string
  readonly value: unknown
}

/** What a program saw, channel by channel, with everything replaced that no two runs have in common. */
export type Seen = Readonly<Record<string, readonly unknown[]>>

const STDERR_KEPT_CHARS = 4_000

/** Another executable in the real CLI's place, and what it is told by variables. */
export interface StandIn {
  readonly path: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs one compiled program in a process of its own, with an empty home and folder and its own scripted model. */
export async function runProgram(compiled: CompiledPrograms, program: string, cli: string | StandIn): Promise<Seen> {
  const base = realpathSync(await mkdtemp(join(tmpdir(), "signalbox-diff-")))
  try {
    const [home, cwd] = [join(base, "home"), join(base, "project")]
    mkdirSync(home)
    mkdirSync(cwd)
    const { path, env } = typeof cli === "string" ? await realCli(cli) : cli
    const task = { claude: path, cwd, home, fakes: fakesFolder, report: join(base, "report.json") }
    writeFileSync(join(base, "task.json"), JSON.stringify(task))
    const stderr = await runChild(compiled, program, { base, home, cwd, env })
    const places: Place[] = [
      [task.claude, "<claude>"],
      [fakesFolder, "<fakes>"],
      [cwd, "<cwd>"],
      [home, "<home>"],
      [base, "<base>"],
      [process.execPath, "<node>"],
    ]
    return channelsOf(readReport(task.report, stderr), places)
  } finally {
    await rm(base, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function realCli(version: string): Promise<StandIn> {
  const { command, args } = await ensureClaude(version)
  return { path: args[0] ?? command, env: {} }
}

interface Surroundings {
  readonly base: string
  readonly home: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

async function runChild(compiled: CompiledPrograms, program: string, surroundings: Surroundings): Promise<string> {
  const { base, home, cwd } = surroundings
  // The address is replaced by the child, which opens the model itself.
  const env = claudeEnvironment({ home, apiUrl: "http://127.0.0.1:9", extra: surroundings.env })
  const child = spawn(process.execPath, [compiled.main, compiled.fileOf(program), join(base, "task.json")], {
    cwd,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT_CHARS)
  })
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject).once("close", () => resolve())
  })
  return stderr
}

function readReport(file: string, stderr: string): { apiUrl: string; observed: Observation[] } {
  try {
    return JSON.parse(readFileSync(file, "utf8"))
  } catch (cause) {
    throw new Error(`the program's process left no report; it said: ${stderr}`, { cause })
  }
}

function channelsOf(report: { apiUrl: string; observed: Observation[] }, places: Place[]): Seen {
  const values = normalise(
    report.observed.map(({ value }) => value),
    [[report.apiUrl, "<api>"], ...places],
  )
  const channels: Record<string, unknown[]> = {}
  for (const [index, { channel }] of report.observed.entries()) {
    const list = channels[channel] ?? []
    channels[channel] = list
    list.push(values[index])
  }
  return channels
}
