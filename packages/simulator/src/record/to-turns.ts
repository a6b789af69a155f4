import { defined, fieldOf, isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import { numberIn, objectsIn } from "../json.ts"
import type { AgentStep, ErrorStep, Scenario, Step, ToolStep, Turn } from "../scenario/schema.ts"
import type { Recording } from "./recording.ts"

type Fields = Readonly<Record<string, unknown>>
type Content = Exclude<Extract<Step, { reply: unknown }>["reply"][number], { todos: unknown }>
type AgentContent = Exclude<AgentStep, { pause: unknown } | { hang: unknown }>

/** A reply that is being put together: the blocks of one API message come as messages of their own. */
type OpenReply = { id: string; blocks: Content[] }

/**
 * A recording as a scenario of turns: what the model said and called, and what came of it. It plays on both players and
 * can be edited; what only the wire shows (which hooks ran, what was asked) is made anew by whoever plays it.
 */
export function scenarioOf(recording: Recording, about: { name?: string; description?: string } = {}): Scenario {
  const writer = new TurnWriter()
  let before = recording.lines[0]?.at ?? 0
  for (const { at, from, line } of recording.lines) {
    const message = parseObject(line) ?? {}
    if (from === "agent") writer.agent(message, at, at - before)
    else if (message["type"] === "control_response") writer.answered(at)
    before = at
  }
  return { ...about, turns: writer.turns() }
}

/** Shorter waits than this are the machine's, not the model's. */
const MIN_PAUSE_MS = 20

class TurnWriter {
  readonly #turns: Turn[] = []
  #steps: Step[] = []
  #reply: OpenReply | undefined
  readonly #tools = new Map<string, { step: ToolStep; at: number }>()
  #costUsd = 0

  /** A turn is what stands before its result. */
  turns(): Turn[] {
    this.#endTurn({})
    return this.#turns.length > 0 ? this.#turns : [{ steps: [] }]
  }

  /** The host has answered: what a tool takes is counted from here. */
  answered(at: number): void {
    for (const tool of this.#tools.values()) if (tool.step.result === undefined) tool.at = at
  }

  agent(message: Fields, at: number, ms: number): void {
    switch (message["type"]) {
      case "assistant":
        return this.#assistant(message, at, ms)
      case "user":
        return this.#results(message, at)
      case "rate_limit_event":
        return this.#rateLimit(fieldOf(message, "rate_limit_info") ?? {})
      case "control_request":
        return this.#elicitation(fieldOf(message, "request") ?? {})
      case "system":
        return this.#system(message)
      case "result":
        return this.#result(message)
    }
  }

  #assistant(message: Fields, at: number, ms: number): void {
    const body = fieldOf(message, "message") ?? {}
    const parent = textOf(message, "parent_tool_use_id")
    if (body["model"] === "<synthetic>") return this.#push(errorIn(message, body))
    for (const block of objectsIn(body["content"])) {
      const step = stepOf(block)
      if (step === undefined) continue
      if ("tool" in step) this.#tools.set(textOf(block, "id") ?? "", { step, at })
      if (parent !== undefined) this.#ofAgent(parent, step)
      else this.#block(textOf(body, "id") ?? "", step, ms)
    }
  }

  #block(id: string, block: Content, ms: number): void {
    if (this.#reply?.id !== id) {
      this.#closeReply()
      this.#reply = { id, blocks: ms >= MIN_PAUSE_MS ? [{ pause: ms }] : [] }
    }
    this.#reply?.blocks.push(block)
  }

  #ofAgent(parent: string, block: AgentContent): void {
    const step = this.#tools.get(parent)?.step
    if (step !== undefined) step.agent = [...(step.agent ?? []), block]
  }

  #results(message: Fields, at: number): void {
    for (const block of objectsIn(fieldOf(message, "message")?.["content"])) {
      const tool = this.#tools.get(textOf(block, "tool_use_id") ?? "")
      if (tool === undefined) continue
      const { step } = tool
      // A sub-agent's result is made from what it says.
      if (step.agent === undefined) Object.assign(step, outcomeOf(block, message["tool_use_result"]))
      if (at - tool.at >= MIN_PAUSE_MS) step.durationMs = at - tool.at
    }
  }

  #system(message: Fields): void {
    if (message["subtype"] === "api_retry") {
      const status = numberIn(message, "error_status") ?? 0
      this.#push({ error: status >= 400 ? status : 529 })
    }
    if (message["subtype"] !== "compact_boundary") return
    const metadata = fieldOf(message, "compact_metadata") ?? {}
    const [preTokens, postTokens] = [numberIn(metadata, "pre_tokens"), numberIn(metadata, "post_tokens")]
    const compact = metadata["trigger"] === "manual" ? "manual" : "auto"
    this.#push({ compact, ...defined({ preTokens, postTokens }) })
  }

  #rateLimit(info: Fields): void {
    const status = info["status"]
    if (status !== "allowed" && status !== "allowed_warning" && status !== "rejected") return
    const [utilization, resetsAt] = [numberIn(info, "utilization"), numberIn(info, "resetsAt")]
    this.#push({ rateLimit: status, ...defined({ type: textOf(info, "rateLimitType"), utilization, resetsAt }) })
  }

  #elicitation(request: Fields): void {
    if (request["subtype"] !== "elicitation") return
    const [schema, url] = [fieldOf(request, "requested_schema"), textOf(request, "url")]
    this.#push({
      elicit: textOf(request, "message") ?? "",
      server: textOf(request, "mcp_server_name") ?? "",
      ...defined({ schema, url }),
    })
  }

  #result(message: Fields): void {
    const total = numberIn(message, "total_cost_usd") ?? this.#costUsd
    const cost = Math.max(0, total - this.#costUsd)
    this.#costUsd = total
    this.#forgetDenied(message["permission_denials"])
    this.#endTurn(cost > 0 ? { costUsd: cost } : {})
  }

  /** A denial is the host's: whoever plays this asks again, and what is allowed then must not give a denial. */
  #forgetDenied(denials: unknown): void {
    for (const denial of objectsIn(denials)) {
      const step = this.#tools.get(textOf(denial, "tool_use_id") ?? "")?.step
      if (step === undefined) continue
      delete step.result
      delete step.structured
      delete step.isError
    }
  }

  #push(step: Step): void {
    this.#closeReply()
    this.#steps.push(step)
  }

  #closeReply(): void {
    const reply = this.#reply
    this.#reply = undefined
    if (reply === undefined) return
    const tools = reply.blocks.filter((block) => "tool" in block).length
    const isPlain = tools === 0 || (tools === 1 && "tool" in (reply.blocks.at(-1) ?? {}))
    // Steps one after the other are one reply up to a tool, and easier to edit.
    const follows = this.#steps.at(-1)
    const joins = follows !== undefined && !("tool" in follows) && !("reply" in follows)
    if (isPlain && !joins) this.#steps.push(...reply.blocks)
    else this.#steps.push({ reply: reply.blocks })
  }

  #endTurn(own: Pick<Turn, "costUsd">): void {
    this.#closeReply()
    if (this.#steps.length > 0) this.#turns.push({ steps: this.#steps, ...own })
    this.#steps = []
    this.#tools.clear()
  }
}

function stepOf(block: Fields): AgentContent | undefined {
  if (block["type"] === "text") return { say: textOf(block, "text") ?? "" }
  if (block["type"] === "thinking") return { think: textOf(block, "thinking") ?? "" }
  const name = textOf(block, "name")
  if (block["type"] !== "tool_use" || name === undefined) return undefined
  return { tool: name, input: { ...fieldOf(block, "input") } }
}

function outcomeOf(block: Fields, structured: unknown): Pick<ToolStep, "result" | "structured" | "isError"> {
  const { content } = block
  return {
    result: Array.isArray(content) ? objectsIn(content).map((item) => ({ ...item })) : (textOf(block, "content") ?? ""),
    ...(isObject(structured) ? { structured } : {}),
    ...(block["is_error"] === true ? { isError: true } : {}),
  }
}

/** The error behind what a CLI says in the model's place when the API failed. */
function errorIn(message: Fields, body: Fields): ErrorStep {
  const status = numberIn(message, "api_error_status") ?? 0
  const [first] = objectsIn(body["content"])
  return {
    error: status >= 400 && status < 600 ? status : 400,
    ...defined({ type: textOf(message, "api_error_type") }),
    message: textOf(first, "text") ?? "",
  }
}
