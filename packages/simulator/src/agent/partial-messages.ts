import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { displayName } from "../mcp/servers.ts"
import type { Fields } from "../profiles/profile.ts"
import type { BlockBuilder, StreamEvent } from "../scenario/reply-events.ts"
import type { AgentCore } from "./core.ts"

const THOUGHT = ',"thinking_display":"updates"'

/**
 * The stream of one reply, passed on event by event for hosts that want partial messages. Lines are put together from
 * text, and what is the same in all of them is written once: deltas come by the hundred thousand.
 */
export class PartialMessages {
  readonly #core: AgentCore
  /** Nothing is passed on of a sub-agent's reply, or where nobody asked for it. */
  readonly #isOn: boolean
  readonly #isMarked: boolean
  readonly #middle: string
  #end = ""

  constructor(core: AgentCore, isMain: boolean) {
    this.#core = core
    this.#isOn = core.launch.includePartialMessages && isMain
    this.#isMarked = core.profile.quirks.marksPartials
    this.#middle = `,"session_id":"${core.wire.sessionId}","parent_tool_use_id":null,"uuid":"`
  }

  announce(): void {
    const { wire, profile } = this.#core
    if (!this.#isOn || !profile.quirks.announcesRequests) return
    wire.system("status", { status: "requesting" }, profile.quirks.requestIds)
  }

  begin(event: StreamEvent, firstTokenMs: number): void {
    const id = textOf(fieldOf(event, "message"), "id") ?? ""
    if (this.#isMarked) this.#end = `,"api_message_id":${JSON.stringify(id)}`
    const timed = this.#core.profile.quirks.timesFirstToken ? `,"ttft_ms":${firstTokenMs}` : ""
    this.#write(event, timed + (this.#isMarked ? THOUGHT : ""))
  }

  /** After a reply that broke off in a block, or after some; `whole` is how many of them were passed on. */
  closeBroken({ id, open, whole }: { id: string; open: number | undefined; whole: number }): void {
    if (open !== undefined) this.pass({ type: "content_block_stop", index: open })
    this.#abandon(id, whole)
  }

  /** `isThought`: of a block of thinking. */
  pass(event: StreamEvent, isThought = false): void {
    this.#write(event, isThought && this.#isMarked ? THOUGHT : "")
  }

  /** After an interruption's own notice, the newest generation closes the stream it had opened. */
  closeInterrupted(head: Readonly<Fields>, index: number): void {
    if (index >= 0) this.pass({ type: "content_block_stop", index })
    this.#passOwnEnd(null, { ...fieldOf(head, "usage"), output_tokens: 1 })
    this.#abandon(textOf(head, "id") ?? "", index + 1)
  }

  /** The end of a reply that was taken back. */
  endRefused(usage: Readonly<Fields>): void {
    this.#passOwnEnd("refusal", usage)
  }

  /** An end in the CLI's words instead of the API's. */
  #passOwnEnd(stop_reason: string | null, usage: Readonly<Fields>): void {
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage
    this.pass({
      type: "message_delta",
      context_management: null,
      delta: { container: null, stop_details: null, stop_reason, stop_sequence: null },
      usage: {
        output_tokens_details: { thinking_tokens: 0 },
        cache_creation_input_tokens,
        cache_read_input_tokens,
        input_tokens,
        iterations: [],
        output_tokens,
        server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
        fallback_credit: null,
      },
    })
  }

  #abandon(api_message_id: string, from_block_index: number): void {
    this.#end += `,"abandoned_blocks":${JSON.stringify({ api_message_id, from_block_index })}`
    this.pass({ type: "message_stop" })
  }

  #write(event: StreamEvent, extra: string): void {
    if (!this.#isOn) return
    const { wire, random } = this.#core
    wire.outbox.push(
      `{"type":"stream_event","event":${JSON.stringify(event)}${this.#middle}${random.uuid()}"${extra}${this.#end}}`,
    )
  }
}

/** A CLI shows an input as its own schema reads it: defaults filled in, fields in the schema's order. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  Bash: ["command", "timeout", "description", "run_in_background"],
}

/** The block as it is said. */
export function saidBlock(block: BlockBuilder): Fields {
  const value = block.value()
  return block.type === "tool_use"
    ? { ...value, input: normaliseInput(textOf(value, "name") ?? "", fieldOf(value, "input") ?? {}) }
    : value
}

function normaliseInput(tool: string, input: Readonly<Fields>): Readonly<Fields> {
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

/** Fields that only the newest generation writes beside a block. */
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
