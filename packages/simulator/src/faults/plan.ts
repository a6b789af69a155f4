import { fieldOf, parseObject, textOf } from "@signalbox/protocol/envelope"
import { draw } from "../randomness.ts"
import { type Fault, isOfLine, type LineMishap, type SideMishap } from "./parse-fault.ts"

/** A step in place of writing a line; several are done in order. */
export type FaultAction =
  | { readonly do: "send"; readonly line: string }
  /** Without the newline at its end. */
  | { readonly do: "piece"; readonly text: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "late"; readonly line: string; readonly ms: number }
  | Extract<SideMishap, { do: "exit" | "kill" | "hang" | "ignore-term" }>
  | (Extract<SideMishap, { do: "flood" }> & { readonly sessionId: string })
  | { readonly do: "cut" }

/** The faults of a run, how far each has come, and where chance stands. */
export interface FaultPlan {
  readonly faults: readonly PlannedFault[]
  readonly sessionId: string
  readonly chance: number
}

interface PlannedFault {
  readonly fault: Fault
  /** Lines so far that were of its kind. */
  readonly met: number
  readonly happened: number
}

export function createFaultPlan(faults: readonly Fault[], seed: number, sessionId: string): FaultPlan {
  return { faults: faults.map((fault) => ({ fault, met: 0, happened: 0 })), sessionId, chance: seed >>> 0 }
}

/** Plays the faults that come before the first line. */
export function beginFaults(plan: FaultPlan): { plan: FaultPlan; actions: FaultAction[] } {
  const actions = plan.faults
    .filter(({ fault }) => fault.at.from === 0)
    .flatMap(({ fault: { mishap } }) => (isOfLine(mishap) ? [] : actionOf(mishap, plan.sessionId, plan.chance)))
  const faults = plan.faults.map((each) => (each.fault.at.from === 0 ? { ...each, happened: 1 } : each))
  return { plan: { ...plan, faults }, actions }
}

/** Faults that were to happen for certain and whose place never came. */
export function unmetFaults({ faults }: FaultPlan): string[] {
  return faults.filter(({ fault, happened }) => happened === 0 && fault.at.chance === 1).map(({ fault }) => fault.spec)
}

/** Turns the next line that the agent writes into what is done instead. Pure: the same plan and lines, the same actions. */
export function stepFaults(plan: FaultPlan, line: string): { plan: FaultPlan; actions: FaultAction[] } {
  const kind = kindOf(line)
  const sessionId = kind.sessionId ?? plan.sessionId
  let chance = plan.chance
  const before: FaultAction[] = []
  const after: FaultAction[] = []
  let own: FaultAction[] = [{ do: "send", line }]
  const faults = plan.faults.map((planned) => {
    const { fault } = planned
    const { mishap, at } = fault
    const isOfKind = (at.type === "line" || at.type === kind.type) && (at.subtype ?? kind.subtype) === kind.subtype
    if (!isOfKind) return planned
    const met = planned.met + 1
    if (met < fault.at.from || met > fault.at.to) return { ...planned, met }
    const drawn = draw(chance)
    chance = drawn.state
    if (drawn.number >= fault.at.chance) return { ...planned, met }
    if (isOfLine(mishap)) own = own.flatMap((action) => spoil(action, mishap))
    else (fault.at.after ? after : before).push(actionOf(mishap, sessionId, chance))
    return { fault, met, happened: planned.happened + 1 }
  })
  return { plan: { faults, sessionId, chance }, actions: [...before, ...own, ...after] }
}

interface LineKind {
  readonly type: string
  readonly subtype: string
  readonly sessionId: string | undefined
}

function kindOf(line: string): LineKind {
  const message = parseObject(line)
  const type = textOf(message, "type") ?? ""
  const inner = { control_request: "request", control_response: "response", stream_event: "event" }[type]
  const named = inner === undefined ? message : fieldOf(message, inner)
  const subtype = textOf(named, type === "stream_event" ? "type" : "subtype") ?? ""
  return { type, subtype, sessionId: textOf(message, "session_id") }
}

function actionOf(mishap: SideMishap, sessionId: string, seed: number): FaultAction {
  switch (mishap.do) {
    case "exit":
    case "kill":
    case "hang":
    case "ignore-term":
      return mishap
    case "close":
      return { do: "cut" }
    case "rubbish":
      return { do: "send", line: rubbish(mishap.bytes, seed) }
    case "long":
      return { do: "send", line: longLine(mishap.bytes) }
    case "flood":
      return { ...mishap, sessionId }
  }
}

function spoil(action: FaultAction, mishap: LineMishap): FaultAction[] {
  if (action.do !== "send") return [action]
  const { line } = action
  switch (mishap.do) {
    case "half":
      return [{ do: "piece", text: line.slice(0, Math.ceil(line.length / 2)) }]
    case "duplicate":
      return Array.from({ length: mishap.copies }, () => action)
    case "delay":
      return [{ do: "wait", ms: mishap.ms }, action]
    case "late":
      return [{ do: "late", line, ms: mishap.ms }]
  }
}

const SIGNS = 'abcXYZ019 {}[]":,\\\t<>%$#@!~\u0001\u001b\u007f'

/** A line of this many bytes that no reader can take for a message. */
function rubbish(bytes: number, seed: number): string {
  let state = seed
  let text = "<"
  while (text.length < bytes) {
    const drawn = draw(state)
    state = drawn.state
    text += SIGNS[Math.floor(drawn.number * SIGNS.length)] ?? ""
  }
  return text
}

const LONG_HEAD = '{"type":"keep_alive","padding":"'
const LONG_TAIL = '"}'

/** A message of this many bytes that every reader may pass over. */
export function longLine(bytes: number): string {
  return `${LONG_HEAD}${"x".repeat(Math.max(0, bytes - LONG_HEAD.length - LONG_TAIL.length))}${LONG_TAIL}`
}

/** A whole message of the model's, in so many deltas. */
export function* floodLines(deltas: number, sessionId: string, uuid: () => string): Generator<string> {
  const ids = `"session_id":${JSON.stringify(sessionId)},"parent_tool_use_id":null,"uuid":"`
  const line = (event: string) => `{"type":"stream_event","event":${event},${ids}${uuid()}"}`
  const usage = { input_tokens: 1, output_tokens: 1 }
  const content = { type: "message", role: "assistant", model: "flood", content: [], stop_reason: null, usage }
  yield line(JSON.stringify({ type: "message_start", message: { id: "msg_flood", ...content } }))
  yield line('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}')
  for (let count = 0; count < deltas; count++)
    yield line('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"drop "}}')
  yield line('{"type":"content_block_stop","index":0}')
  yield line(JSON.stringify({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }))
  yield line('{"type":"message_stop"}')
}
