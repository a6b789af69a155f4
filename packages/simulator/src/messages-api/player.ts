import { remember } from "../json.ts"
import {
  type Call,
  callsOf,
  type Position,
  plainReply,
  ScriptCursor,
  type Scripted,
  unscripted,
} from "../scenario/calls.ts"
import type { AgentStep, Scenario } from "../scenario/schema.ts"
import {
  type FreshInput,
  freshSince,
  type MessagesRequest,
  type SideKind,
  sideKindOf,
  sideReplyText,
  spokenTexts,
  type Tail,
  tailOf,
} from "./request.ts"

/**
 * `conversation` plays the script. A side call is answered beside it. `ended`: the script had nothing left for this.
 */
export type Played = { call: Call } & (
  | { kind: "conversation"; position: Position; finish: (complete: boolean) => void }
  | { kind: "side"; side: SideKind }
  | { kind: "ended"; said: string }
)

interface Conversation {
  cursor: ScriptCursor
  tail: Tail | undefined
  /** The client has all of the last call, and the call was not one a CLI goes on from by itself. */
  settled: boolean
}

/** One of the CLI's sessions, as far as it is known. */
interface Session {
  main: Conversation
  hasTools: boolean
  agents: Map<string, readonly AgentStep[] | undefined>
}

/** A CLI speaks in the user's place after these; the model's turn goes on. */
const CONTINUATIONS = [/output token limit/i, /was stopped by a safety classifier/, /was cut off mid-stream/]
const INTERRUPTION = /^\[Request interrupted by user/
const MAX_SESSIONS = 10_000
const AGENT_TOOLS = new Set(["Agent", "Task"])

/** One reader of the scenario for each session, so that any number of CLIs can share an API. */
export class Player {
  readonly #scenario: Scenario
  readonly #sessions = new Map<string, Session>()

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  play(request: MessagesRequest): Played {
    const session = this.#session(request.sessionId)
    // A sub-agent speaks in the session of the conversation that started it. Newer CLIs mark it; in older ones it is known
    // by its first words, which are the prompt the script gave it.
    const first = request.entries.find((entry) => entry.role === "user")
    const prompt = first && spokenTexts(first).find((text) => session.agents.has(text))
    const isMarked = request.agentId !== undefined || request.system.includes("cc_is_subagent=true")
    const side = isMarked || prompt !== undefined ? "agent" : sideKindOf(request, session.hasTools)
    const steps = prompt === undefined ? undefined : session.agents.get(prompt)
    if (steps !== undefined) return { kind: "side", side: "agent", call: agentCall(request, steps) }
    if (side !== undefined) {
      return { kind: "side", side, call: plainReply(sideReplyText(side, request, this.#scenario.side)) }
    }
    if (request.tools.length > 0) session.hasTools = true
    return this.#converse(request, session)
  }

  #session(id: string): Session {
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    const main = { cursor: new ScriptCursor(this.#scenario.turns), tail: undefined, settled: true }
    const session = { main, hasTools: false, agents: new Map<string, readonly AgentStep[] | undefined>() }
    remember(this.#sessions, id, session, MAX_SESSIONS)
    return session
  }

  #converse(request: MessagesRequest, session: Session): Played {
    const conversation = session.main
    const tail = tailOf(request)
    const fresh = freshSince(conversation.tail, tail)
    conversation.tail = tail
    const scripted = next(conversation, fresh)
    const said = fresh.texts.length > 0 ? fresh.texts.join("\n") : "the result of a tool"
    if (scripted === undefined) return { kind: "ended", said, call: unscripted(said) }
    conversation.settled = false
    for (const [prompt, steps] of agentsOf(scripted.call)) session.agents.set(prompt, steps)
    const finish = (complete: boolean) => {
      conversation.settled = complete && !isContinued(scripted.call)
    }
    return { kind: "conversation", ...scripted, finish }
  }
}

function next(conversation: Conversation, fresh: FreshInput): Scripted | undefined {
  const { cursor, settled } = conversation
  // The same request again: a retry. What failed for good goes on failing; what was said is said again.
  if (fresh.texts.length === 0 && fresh.toolResults.length === 0) {
    return (settled ? undefined : cursor.advance()) ?? cursor.repeat() ?? cursor.begin("")
  }
  const spoken = fresh.texts.filter((text) => !INTERRUPTION.test(text))
  const interrupted = spoken.length < fresh.texts.length
  const continued = spoken.length > 0 && spoken.every((text) => CONTINUATIONS.some((note) => note.test(text)))
  if (continued) return cursor.advance() ?? cursor.repeat() ?? cursor.begin("")
  if (fresh.toolResults.length > 0 && !interrupted) {
    const going = cursor.advance(fresh.toolResults.map((id) => fresh.failedResults.includes(id)))
    if (going !== undefined || spoken.length === 0) return going
  }
  return cursor.begin(spoken.join("\n"))
}

/** Ended in a way after which a CLI asks the model to go on, by itself. */
function isContinued(call: Call): boolean {
  if (call.kind === "error") return true
  return ["max_tokens", "refusal", "pause_turn"].includes(call.stop.reason)
}

type AgentEntry = [prompt: string, steps: readonly AgentStep[] | undefined]

function agentsOf(call: Call): AgentEntry[] {
  if (call.kind === "error") return []
  return call.blocks.flatMap((block): AgentEntry[] => {
    if (!("tool" in block) || !AGENT_TOOLS.has(block.tool)) return []
    const prompt = block.input["prompt"]
    return typeof prompt === "string" ? [[prompt.trim(), block.agent]] : []
  })
}

/** The sub-agent's next call. How far it is can be seen in what it has said so far. */
function agentCall(request: MessagesRequest, steps: readonly AgentStep[]): Call {
  const said = request.entries.filter((entry) => entry.role === "assistant").length
  return callsOf({ steps: [...steps] })[said] ?? plainReply("")
}
