import { textOf } from "@signalbox/protocol/envelope"
import { parseObject } from "../json.ts"
import { displayName } from "../mcp/servers.ts"
import type { Fields } from "../profiles/profile.ts"
import type { AgentCore } from "./core.ts"

/** One content block, put together from its deltas. */
export class BlockBuilder {
  readonly type: string
  readonly #start: Fields
  readonly #pieces: string[] = []
  #signature = ""

  constructor(start: Readonly<Fields>) {
    this.#start = { ...start }
    this.type = textOf(start, "type") ?? ""
  }

  append(delta: Readonly<Fields>): void {
    const piece = delta["text"] ?? delta["thinking"] ?? delta["partial_json"]
    if (typeof piece === "string") this.#pieces.push(piece)
    const signature = delta["signature"]
    if (typeof signature === "string") this.#signature += signature
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  value(): Fields {
    const text = this.#pieces.join("")
    if (this.type === "thinking") return { type: "thinking", thinking: text, signature: this.#signature }
    if (this.type !== "tool_use") return { ...this.#start, text }
    return { ...this.#start, input: normaliseInput(textOf(this.#start, "name") ?? "", parseObject(text) ?? {}) }
  }
}

/** A CLI shows an input as its own schema reads it: defaults filled in, fields in the schema's order. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  Bash: ["command", "timeout", "description", "run_in_background"],
}

function normaliseInput(tool: string, input: Fields): Fields {
  if (tool === "Edit") return { replace_all: false, ...input }
  const order = ORDERS[tool]
  if (order === undefined) return input
  const known = order.filter((name) => name in input).map((name) => [name, input[name]])
  const rest = Object.entries(input).filter(([name]) => !order.includes(name))
  return Object.fromEntries([...known, ...rest])
}

export interface BlockPlace {
  /** The user's messages that the reply answers, where this is its first block. */
  readonly userUuids: readonly string[]
  readonly startedAt: number
}

/** What only the newest generation writes beside a block. */
export function blockExtra(core: AgentCore, block: BlockBuilder, { userUuids, startedAt }: BlockPlace): Fields {
  const isMarked = userUuids.length > 0
  const markers = isMarked ? { user_message_uuid: userUuids.at(-1), user_message_uuids: userUuids } : {}
  if (block.type === "thinking") {
    const duration = Math.max(1, core.clock.now() - startedAt)
    return { thinking_duration_ms: duration, thinking_display: "updates", ...markers }
  }
  if (block.type !== "tool_use") return markers
  const value = block.value()
  const target = core.mcp.find(textOf(value, "name") ?? "")
  if (target === undefined) return markers
  const meta = {
    id: value["id"],
    display_name: displayName(target.tool),
    server_display_name: target.server,
    tool_name: target.tool,
  }
  return { tool_use_meta: [meta], ...markers }
}

/** Into the history that the model is told, and into the transcript. Blocks of one message become one again. */
export function rememberReply(core: AgentCore, message: Fields, said: Fields, requestId: string): void {
  const blocks = Array.isArray(message["content"]) ? message["content"] : []
  const last = core.history.at(-1)
  if (last?.["role"] === "assistant" && last["id"] === message["id"] && Array.isArray(last["content"])) {
    last["content"] = [...last["content"], ...blocks]
  } else core.history.push({ role: "assistant", id: message["id"], content: blocks })
  const timestamp = core.wire.timestamp()
  core.transcript.add("assistant", { message, uuid: textOf(said, "uuid") ?? "", timestamp, extra: { requestId } })
}
