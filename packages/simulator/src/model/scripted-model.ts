import { readFileSync } from "node:fs"
import { objectsIn, remember } from "../json.ts"
import { errorTypeOf } from "../messages-api/json-answers.ts"
import { sideDefaults } from "../messages-api/request.ts"
import type { Fields } from "../profiles/profile.ts"
import { type Call, plainReply, ScriptCursor, unscripted } from "../scenario/calls.ts"
import { Hangs } from "../scenario/hangs.ts"
import { type Ids, replyActions } from "../scenario/reply-events.ts"
import type { AgentStep, Block, Scenario, ToolStep } from "../scenario/schema.ts"
import type { Model, ModelAction, ModelRequest } from "./model.ts"

/** For those who bring no scenario: words that ask for something get it, and everything else gets an answer. */
export const builtInScenario: Scenario = JSON.parse(
  readFileSync(new URL("../../gallery/built-in.json", import.meta.url), "utf8"),
)

const MAX_REMEMBERED_STEPS = 10_000
const MAX_REMEMBERED_AGENTS = 1000

/** The size of the first `count` messages of a history, and the last of them. */
interface Measured {
  readonly count: number
  readonly units: number
  readonly last: Fields | undefined
}
const NOTHING: Measured = { count: 0, units: 1, last: undefined }

/** The scenario as the model, inside the process: no HTTP, no waiting but what the scenario asks for. */
export class ScriptedModel implements Model {
  readonly #scenario: Scenario
  readonly #cursor: ScriptCursor
  readonly #ids: Ids
  readonly #hangs: Hangs
  readonly #steps = new Map<string, ToolStep>()
  readonly #agents = new Map<string, ScriptCursor>()
  readonly #measured = new WeakMap<readonly Fields[], Measured>()
  #turn: number | undefined
  #requestId = ""

  constructor(scenario: Scenario, options: { ids: Ids; hangs?: Hangs }) {
    this.#scenario = scenario
    this.#cursor = new ScriptCursor(scenario.turns)
    this.#ids = options.ids
    this.#hangs = options.hangs ?? new Hangs()
  }

  call(request: ModelRequest): Iterator<ModelAction> {
    this.#requestId = this.#ids.next("req")
    return this.#play(this.#next(request), request)
  }

  stepOf(toolUseId: string): ToolStep | undefined {
    return this.#steps.get(toolUseId)
  }

  costOfTurn(): number | undefined {
    return this.#turn === undefined ? undefined : this.#scenario.turns[this.#turn]?.costUsd
  }

  requestId(): string {
    return this.#requestId
  }

  async hang(name: string | undefined, signal: AbortSignal): Promise<void> {
    // An abort is the ordinary end of a hang: the turn looks at its signal next.
    await this.#hangs.hold(name, signal).catch(() => undefined)
  }

  #next(request: ModelRequest): Call {
    if (request.agent !== undefined) return this.#nextOfAgent(request, request.agent)
    const scripted = this.#advance(request)
    if (scripted === undefined) {
      this.#turn = undefined
      return unscripted(request.text === "" ? "the result of a tool" : request.text)
    }
    this.#turn = scripted.position.turn
    return scripted.call
  }

  #advance({ why, text, messages }: ModelRequest) {
    const cursor = this.#cursor
    if (why === "said") return cursor.begin(text)
    if (why === "results")
      return cursor.advance(failedResults(messages)) ?? (text === "" ? undefined : cursor.begin(text))
    return cursor.advance() ?? cursor.repeat() ?? cursor.begin(text)
  }

  #nextOfAgent(request: ModelRequest, agent: { id: string; toolUseId: string }): Call {
    const steps = this.#steps.get(agent.toolUseId)?.agent
    if (steps === undefined) return plainReply(this.#scenario.side?.agent ?? sideDefaults.agent)
    const cursor = this.#agents.get(agent.id) ?? new ScriptCursor([{ steps: [...steps] satisfies AgentStep[] }])
    if (!this.#agents.has(agent.id)) remember(this.#agents, agent.id, cursor, MAX_REMEMBERED_AGENTS)
    const scripted = request.why === "said" ? cursor.begin(request.text) : cursor.advance()
    return scripted?.call ?? plainReply("")
  }

  *#play(call: Call, request: ModelRequest): Generator<ModelAction> {
    if (call.kind === "error") {
      for (const aside of call.asides ?? []) yield { do: "aside", aside }
      const { error: status, type = errorTypeOf(status), message = "Scripted error" } = call.error
      yield { do: "error", status, type, message }
      return
    }
    const blocks = call.blocks.map((block) => this.#named(block))
    const asked = { model: request.model, inputUnits: this.#unitsOf(request.messages) }
    yield* replyActions({ ...call, blocks }, asked, this.#ids)
  }

  /** How long the conversation is as JSON: only what is new since the last call is measured. */
  #unitsOf(messages: readonly Fields[]): number {
    let sum = this.#measured.get(messages)
    // A history that was cut or summarised is another one. The last message may still have grown.
    if (sum === undefined || sum.count > messages.length || messages[sum.count - 1] !== sum.last) sum = NOTHING
    let { count, units } = sum
    for (; count < messages.length - 1; count++) units += JSON.stringify(messages[count]).length + 1
    this.#measured.set(messages, { count, units, last: messages[count - 1] })
    const newest = messages[count]
    return units + (newest === undefined ? 0 : JSON.stringify(newest).length + 1)
  }

  /** Tool calls get their ids here, so that the step can be found again when the tool is to run. */
  #named(block: Block): Block {
    if (!("tool" in block)) return block
    const named = { ...block, id: block.id ?? this.#ids.next("toolu") }
    remember(this.#steps, named.id, named, MAX_REMEMBERED_STEPS)
    return named
  }
}

/** Whether each tool failed, for the tools whose results came last. */
function failedResults(messages: readonly Fields[]): boolean[] {
  const blocks = objectsIn(messages.at(-1)?.["content"])
  return blocks.filter(({ type }) => type === "tool_result").map((block) => block["is_error"] === true)
}
