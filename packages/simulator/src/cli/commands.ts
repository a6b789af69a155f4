import { writeFile } from "node:fs/promises"
import { SimulatorError } from "../simulator-error.ts"

// What is not the CLI's side of the wire: commands that begin with a word of their own.

const RECORD = "claude-sim record --out FILE -- claude …"
const CONVERT = "claude-sim convert RECORDING [--turns] [--out FILE]"

/** Runs a command, if the words are one: its exit code, or undefined. */
export async function runCommand(argv: readonly string[]): Promise<number | undefined> {
  const [word, ...rest] = argv
  if (word === "record") return record(rest)
  if (word === "convert") return convert(rest)
  return undefined
}

async function record(argv: readonly string[]): Promise<number> {
  const dashes = argv.indexOf("--")
  const [command, ...args] = dashes === -1 ? [] : argv.slice(dashes + 1)
  const { file, rest } = outOf(argv.slice(0, Math.max(0, dashes)))
  if (command === undefined || file === undefined || rest.length > 0) throw usage(RECORD)
  const { recordCommand } = await import("../record/record-command.ts")
  return recordCommand({ command, args, file, stdin: process.stdin, stdout: process.stdout })
}

async function convert(argv: readonly string[]): Promise<number> {
  const { file, rest } = outOf(argv)
  const paths = rest.filter((word) => word !== "--turns")
  const [path] = paths
  if (path === undefined || paths.length > 1) throw usage(CONVERT)
  const [{ readText }, { decodeRecording }, { writeYaml }] = await Promise.all([
    import("../record/replay-file.ts"),
    import("../record/recording.ts"),
    import("../scenario/yaml.ts"),
  ])
  const recording = decodeRecording(await readText(path), path)
  const [{ scenarioOf }, { replayOf }, { brokenOff }] = await Promise.all([
    import("../record/to-turns.ts"),
    import("../record/to-replay.ts"),
    import("../record/to-replay.ts"),
  ])
  const replay = replayOf(recording)
  const notice = brokenOff(replay, path, recording.cutOffAt)
  if (notice !== undefined) process.stderr.write(`claude-sim: ${notice}\n`)
  const text = writeYaml(rest.includes("--turns") ? scenarioOf(recording) : replay, { lineWidth: 120 })
  if (file !== undefined) await writeFile(file, text)
  else await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()))
  return 0
}

function outOf(argv: readonly string[]): { file?: string; rest: string[] } {
  const at = argv.indexOf("--out")
  const tied = argv.find((word) => word.startsWith("--out="))
  const file = at === -1 ? tied?.slice("--out=".length) : argv[at + 1]
  const rest = argv.filter((word, index) => word !== tied && (at === -1 || (index !== at && index !== at + 1)))
  return { ...(file === undefined ? {} : { file }), rest }
}

function usage(how: string): SimulatorError {
  return new SimulatorError("launch/refused", `claude-sim: it is written as: ${how}`)
}
