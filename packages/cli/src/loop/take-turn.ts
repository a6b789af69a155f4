import { setTimeout as pause } from "node:timers/promises"
import { type Ask, HubClientError, type LaunchRequest } from "@signalbox/client"
import { textOf } from "@signalbox/protocol"
import type { LastingHub } from "./lasting-hub.ts"
import { isOfEveryTask, isOfOneTask, passingRefusal } from "./lasting-hub.ts"
import type { RunSettings } from "./run-record.ts"
import { launchKey, messageUuid } from "./run-record.ts"
import type { Task, TurnEnd } from "./run-state.ts"

export interface TurnOptions {
  readonly hub: LastingHub
  readonly run: string
  readonly settings: RunSettings
  readonly task: Task
  readonly message: string
  readonly signal: AbortSignal
  readonly onSession: (session: string) => void
  readonly onAsks: (asks: boolean) => void
}

export interface TurnReport {
  readonly end: TurnEnd
  readonly costUsd?: number
}

const TITLE_CHARS = 80
const END_MS = 10_000
const LOOK_MS = 250

/** One turn of a task's agent, to its end: begun, or taken up again if it was begun before. */
export async function takeTurn(options: TurnOptions): Promise<TurnReport> {
  const { hub, signal } = options
  try {
    const { session, after } = await beginTurn(options)
    const end = await watchTurn({ ...options, session, after })
    const { costUsd } = await hub.call((each) => each.session(session).get(), signal)
    return { end, costUsd }
  } catch (error) {
    if (signal.aborted || !(error instanceof HubClientError)) throw error
    return { end: endFor(error, options.task) }
  }
}

/** A refusal by the hub or a runner. A session that cannot go on concerns one task, anything else concerns all. */
function endFor(error: HubClientError, { session }: Task): TurnEnd {
  const { code, message } = error
  if (isOfOneTask(code) || (session !== undefined && !isOfEveryTask(code))) return { kind: "given-up", text: message }
  return { kind: "refused", code, message }
}

interface Begun {
  readonly session: string
  /** The turn is what comes after this event. */
  readonly after: number
}

async function beginTurn(options: TurnOptions): Promise<Begun> {
  const { hub, run, task, message, signal, onSession } = options
  const known = task.session
  if (known === undefined) {
    const request = launchRequest(options)
    const session = await passingRefusal(() => hub.call((each) => each.launch(request), signal), signal)
    onSession(session.id)
    return { session: session.id, after: 0 }
  }
  if (task.turns === 1) return { session: known, after: 0 }
  const uuid = messageUuid(run, task)
  const send = () => hub.call((each) => each.session(known).send(message, { uuid }), signal)
  return { session: known, after: (await passingRefusal(send, signal)).seq }
}

function launchRequest({ run, settings, task, message }: TurnOptions): LaunchRequest {
  const { agent, cwd, model, mode, args, worktrees } = settings
  return {
    agent,
    prompt: message,
    title: task.text.split("\n", 1)[0]?.slice(0, TITLE_CHARS) ?? "",
    requestKey: launchKey(run, task.number),
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(args.length === 0 ? {} : { args }),
    ...(worktrees ? { worktree: { branch: `signalbox/${run.slice(0, 8)}-${task.number}` } } : {}),
  }
}

async function watchTurn(options: TurnOptions & Begun): Promise<TurnEnd> {
  const { hub, session, after, signal, onAsks } = options
  for await (const item of hub.follow(session, after, signal)) {
    if (item.type === "changed") onAsks(item.session.state === "waiting")
    if (item.type === "ask" && isHalt(item.ask, after)) return { kind: "halted", by: whoOf(item.ask) }
    if (item.type !== "event") continue
    const { message, from } = item
    if (from === "agent" && message.type === "result") return endOfResult(options, message)
    if (from === "hub" && message.type === "hub" && message["subtype"] === "ended") {
      const reason = textOf(message, "reason") ?? "its process ended"
      return (await halted(options)) ?? endOfProcess(reason)
    }
  }
  throw new HubClientError("client/closed", "the connection to the hub was closed while an agent was working")
}

/** The hub's own words: somebody stopped the session, and it is not resumed against their will. */
function endOfProcess(reason: string): TurnEnd {
  return reason.startsWith("stopped by ")
    ? { kind: "given-up", text: `its session was ${reason}` }
    : { kind: "error", text: `the agent's process ended: ${reason}` }
}

const ABORTED: ReadonlySet<unknown> = new Set(["aborted_streaming", "aborted_tools"])

async function endOfResult(options: TurnOptions & Begun, result: Readonly<Record<string, unknown>>): Promise<TurnEnd> {
  // A turn that was aborted because its process stops calls itself a success.
  const isAborted = ABORTED.has(result["terminal_reason"]) || result["subtype"] === "error_during_execution"
  const isError = result["is_error"] === true || result["subtype"] !== "success"
  if (!isError && !isAborted) return { kind: "answered" }
  const stop = await halted(options)
  if (stop !== undefined) return stop
  const cause = isAborted ? await whoBrokeOff(options) : undefined
  return cause ?? { kind: "error", text: textOf(result, "result") || (textOf(result, "subtype") ?? "no reason given") }
}

/** Who interrupted or stopped it: the end of the process is reported a moment after that of the turn. */
async function whoBrokeOff({ hub, session, signal }: TurnOptions & Begun): Promise<TurnEnd | undefined> {
  const deadline = Date.now() + END_MS
  for (;;) {
    const { state, exit, lastResult } = await hub.call((each) => each.session(session).get(), signal)
    const by = lastResult?.interruptedBy
    if (by !== undefined) return { kind: "given-up", text: `${by} interrupted it` }
    if (state === "ended") return endOfProcess(exit?.reason ?? "no reason given")
    if (Date.now() > deadline) return undefined
    await pause(LOOK_MS, undefined, { signal })
  }
}

/** Looked up on demand: an answer that was given while the connection was lost is not reported again. */
async function halted({ hub, session, after, signal }: TurnOptions & Begun): Promise<TurnEnd | undefined> {
  const asks = await hub.call((each) => each.asks({ state: "denied", session }), signal)
  const halt = asks.find((ask) => isHalt(ask, after))
  return halt === undefined ? undefined : { kind: "halted", by: whoOf(halt) }
}

function isHalt({ state, via, answer, seq }: Ask, after: number): boolean {
  return state === "denied" && via === "person" && answer?.["interrupt"] === true && seq > after
}

function whoOf({ settledBy }: Ask): string {
  return settledBy ?? "somebody"
}
