import { writeFile } from "node:fs/promises"
import { refused } from "../simulator-error.ts"

// Commands that begin with a word of their own: they are not the CLI's side of the wire.

const RECORD = "claude-sim: it is written as: claude-sim record --out FILE -- claude …"
const CONVERT = "claude-sim: it is written as: claude-sim convert RECORDING [--turns] [--out FILE]"

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
  if (command === undefined || file === undefined || rest.length > 0) throw refused(RECORD)
  const { recordCommand } = await import("../record/recording.ts")
  return recordCommand({ command, args, file, stdin: process.stdin, stdout: process.stdout })
}

async function convert(argv: readonly string[]): Promise<number> {
  const { file, rest } = outOf(argv)
  const paths = rest.filter((word) => word !== "--turns")
  const [path] = paths
  if (path === undefined || paths.length > 1) throw refused(CONVERT)
  const [{ brokenOff, readText, replayOf }, { decodeRecording }, { scenarioOf }, { writeYaml }] = await Promise.all([
    import("../record/replay-file.ts"),
    import("../record/recording.ts"),
    import("../record/to-turns.ts"),
    import("../scenario/yaml.ts"),
  ])
  const recording = decodeRecording(await readText(path), path)
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

export const HELP = `claude-sim: the CLI's side of the wire, from a scenario. No account, no network, no token.

  claude-sim --output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio
  claude-sim --scenario bug-fix --profile 2.1.120 --sdk-url ws://127.0.0.1:8765/v1/ws/one

Takes every launch flag of the real CLI, as --flag value and as --flag=value; one it does not know is named on stderr.
Its own, each also a variable for hosts that write the command line themselves:

  --scenario NAME|FILE   SIGNALBOX_SIM_SCENARIO   what the model does: a scenario of the gallery (--list names them) or
                                                  a file of YAML or JSON; without one it answers anything
  --profile VERSION      SIGNALBOX_SIM_PROFILE    2.1.37, 2.1.120 or 2.1.325 (the default)
  --speed N|max          SIGNALBOX_SIM_SPEED      how fast the scenario is played; 1 is its own pace
  --seed N               SIGNALBOX_SIM_SEED       the same ids and faults in every run
  --simulate-tools MODE  SIGNALBOX_SIM_TOOLS      pretend (the default): no command runs, no file is touched
                                                  real: Bash, Read, Write, Edit, Glob and Grep do what they are asked
  --model-url URL|env    SIGNALBOX_SIM_MODEL_URL  a scripted Messages API on this machine speaks instead of a scenario
  --fault SPEC           SIGNALBOX_SIM_FAULT      something goes wrong, as in --fault exit=3@result#2; may be given again;
                                                  --fault help lists what can
  --agents N             SIGNALBOX_SIM_AGENTS     N agents in this one process, with --sdk-url: {n} in it is each one's
                                                  number (profile 2.1.120 unless you say otherwise)
  --replay FILE          SIGNALBOX_SIM_REPLAY     a recording is played instead, at --speed
  --record FILE          SIGNALBOX_SIM_RECORD     what passes in this run is recorded

  claude-sim --list                                             the scenarios that come with it, a line each
  claude-sim record --out FILE -- claude …                      stands in for that claude on stdio and records it
  claude-sim convert FILE [--turns] [--out SCENARIO.yaml]       makes a replay to edit of a recording, or a scenario

Example, with no program of your own (signalbox sim is the same as claude-sim):

  echo '{"type":"user","message":{"role":"user","content":"go"}}' |
    claude-sim --scenario bug-fix --allowedTools Bash,Edit --output-format stream-json --input-format stream-json --verbose
`
