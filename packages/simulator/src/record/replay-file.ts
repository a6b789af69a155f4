import { readFile } from "node:fs/promises"
import { SimulatorError } from "../simulator-error.ts"
import { decodeRecording, isRecording } from "./recording.ts"
import type { Replay } from "./replay-schema.ts"
import { brokenOff, replayOf } from "./to-replay.ts"

/**
 * What `--replay` plays: a recording as it is, or a replay that was made from one and edited. `onNotice` is told of one
 * that has no end.
 */
export async function readReplayFile(
  path: string,
  onNotice: (text: string) => void = () => undefined,
): Promise<Replay> {
  const text = await readText(path)
  const recording = isRecording(text) ? decodeRecording(text, path) : undefined
  const replay = recording === undefined ? await readReplay(text, path) : replayOf(recording)
  const notice = brokenOff(replay, path, recording?.cutOffAt)
  if (notice !== undefined) onNotice(notice)
  return replay
}

async function readReplay(text: string, path: string): Promise<Replay> {
  // Only who edits a replay by hand pays for checking it.
  const [{ readYaml }, { replaySchema }] = await Promise.all([
    import("../scenario/yaml.ts"),
    import("./replay-schema.ts"),
  ])
  const source = readYaml(text)
  const problems = source.problems.map(({ line, message }) => `${path}:${line}: ${message}`)
  if (problems.length > 0) throw invalid(path, problems)
  // What the check returns has its fields in another order than the wire had them, so what was checked is returned.
  const isReplay = (value: unknown): value is Replay => replaySchema.safeParse(value).success
  if (isReplay(source.value)) return source.value
  const { error } = replaySchema.safeParse(source.value)
  throw invalid(
    path,
    (error?.issues ?? []).map((issue) => {
      const keys = issue.path.filter((key) => typeof key !== "symbol")
      return `${path}:${source.lineOf(keys)}: ${keys.join(".")}: ${issue.message.replace(/^Invalid input: /, "")}`
    }),
  )
}

export async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new SimulatorError("recording/invalid", `${path}: cannot be read`, { cause, details: { path } })
  })
}

function invalid(path: string, problems: readonly string[]): SimulatorError {
  const hint = "A replay is a recording of `claude-sim record`, or what `claude-sim convert` made of one."
  return new SimulatorError("recording/invalid", [...problems, hint].join("\n"), { details: { path, problems } })
}
