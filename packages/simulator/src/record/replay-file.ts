import { readFile } from "node:fs/promises"
import { type Envelope, fieldOf, isEnvelope, parseObject, textOf } from "@signalbox/protocol/envelope"
import { SimulatorError } from "../simulator-error.ts"
import { decodeRecording, isRecording, type RecordedLine, type Recording } from "./recording.ts"
import type { Replay, ReplayStep } from "./replay-schema.ts"

/**
 * Reads what `--replay` plays: a recording as it is, or a replay that was made from one and edited. `onNotice` is told of one
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
  // The check returns fields in another order than the wire had them, so what was checked is returned.
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

/** A recording as a replay: the same conversation, to be had again with another host. */
export function replayOf(recording: Recording, about: { name?: string; description?: string } = {}): Replay {
  const steps: ReplayStep[] = []
  let isTurnRunning = false
  let before = recording.lines[0]?.at ?? 0
  for (const line of recording.lines) {
    const message = messageIn(line)
    const step = line.from === "host" ? hostStep(message, isTurnRunning) : agentStep(message, line, line.at - before)
    before = line.at
    if (step === undefined) continue
    steps.push(step)
    // Queued messages and the ends of tasks start turns without a word of the host's.
    if ("user" in step || (message?.type === "system" && message["subtype"] === "init")) isTurnRunning = true
    if ("emit" in step && step.emit.type === "result") isTurnRunning = false
  }
  const end = recording.exitCode === undefined ? {} : { exitCode: recording.exitCode }
  return { ...about, ...end, replay: steps }
}

function messageIn({ line }: RecordedLine): Envelope | undefined {
  const value = parseObject(line)
  return value !== undefined && isEnvelope(value) ? value : undefined
}

/** A step that an agent waits for. The rest of what a host says changes nothing that is seen. */
function hostStep(message: Envelope | undefined, isTurnRunning: boolean): ReplayStep | undefined {
  const midTurn = isTurnRunning ? { midTurn: true } : {}
  if (message?.type === "user") return { user: message, ...midTurn }
  if (message?.type === "control_request") {
    const [request, as] = [fieldOf(message, "request"), textOf(message, "request_id")]
    const subtype = textOf(request, "subtype")
    if (subtype === undefined || as === undefined) return undefined
    return { request: { ...request, subtype }, as, ...midTurn }
  }
  if (message?.type !== "control_response") return undefined
  const response = fieldOf(message, "response")
  const answered = textOf(response, "request_id")
  return answered === undefined ? undefined : { answered, response: withoutId(response) }
}

function agentStep(message: Envelope | undefined, { line }: RecordedLine, ms: number): ReplayStep | undefined {
  const afterMs = ms > 0 ? { afterMs: ms } : {}
  if (message === undefined) return line.trim() === "" ? undefined : { raw: line, ...afterMs }
  const as = textOf(message, "request_id")
  const request = fieldOf(message, "request")
  const subtype = textOf(request, "subtype")
  if (message.type === "control_request" && as !== undefined && subtype !== undefined) {
    return { ask: { ...request, subtype }, as, ...afterMs }
  }
  if (message.type === "control_cancel_request" && as !== undefined) return { cancel: as, ...afterMs }
  const response = fieldOf(message, "response")
  const to = textOf(response, "request_id")
  if (message.type !== "control_response" || to === undefined) return { emit: message, ...afterMs }
  const rest = withoutId(response)
  return { reply: { ...rest, subtype: textOf(rest, "subtype") ?? "success" }, to, ...afterMs }
}

function withoutId(response: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const { request_id: _, ...rest } = response ?? {}
  return rest
}

/** The notice that a recording breaks off; undefined where it has a whole end. */
export function brokenOff(replay: Replay, path: string, cutOffAt?: number): string | undefined {
  const where = cutOffAt === undefined ? path : `${path}:${cutOffAt}`
  const isCut = cutOffAt === undefined ? "" : "its last line is cut off, and passed over; "
  if (endsMidTurn(replay)) {
    return `${where}: ${isCut}the recording ends in the middle of a turn: no result comes after its last message`
  }
  return cutOffAt === undefined ? undefined : `${where}: ${isCut}what was recorded before it is whole`
}

/** A turn was begun, and its result never came. A process that ended with a code meant to. */
function endsMidTurn({ replay, exitCode }: Replay): boolean {
  if (exitCode !== undefined) return false
  let isRunning = false
  for (const step of replay) {
    if ("user" in step) isRunning = true
    if ("emit" in step && step.emit.type === "result") isRunning = false
  }
  return isRunning
}
