import type { UUID } from "node:crypto"
import {
  query,
  type SDKAssistantMessage,
  type SDKMessage,
  type SDKPartialAssistantMessage,
  type SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk"
import type { ContentBlockParam, MessageParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources"
import type {
  BetaContentBlock,
  BetaMessage,
  BetaRawMessageStreamEvent,
  BetaTextBlock,
  BetaToolUseBlock,
  BetaUsage,
} from "@anthropic-ai/sdk/resources/beta/messages/messages"
import { observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Compiling is the point: messages go from here to code that is typed by the API's own client, and back. */
export async function run(): Promise<void> {
  observe("text", textOf([{ type: "text", text: "as it is", citations: null }]))
  observe("history", [asPrompt({ role: "user", content: [{ type: "text", text: "again" }] })])
}

const isText = (block: BetaContentBlock): block is BetaTextBlock => block.type === "text"

function textOf(blocks: readonly BetaContentBlock[]): string {
  return blocks
    .filter(isText)
    .map((block) => block.text)
    .join("")
}

function asPrompt(message: MessageParam): SDKUserMessage {
  return { type: "user", message, parent_tool_use_id: null, session_id: "" }
}

/** Keeps a transcript in the API's own form. */
export class Transcript {
  readonly #messages: MessageParam[] = []
  readonly #answers = new Map<UUID, BetaMessage>()
  #tokens = 0

  add(message: SDKMessage): void {
    if (message.type === "user") this.#messages.push(message.message)
    if (message.type === "assistant") this.#answered(message)
  }

  #answered({ uuid, message }: SDKAssistantMessage): void {
    const usage: BetaUsage = message.usage
    this.#tokens += usage.output_tokens + (usage.cache_read_input_tokens ?? 0)
    this.#answers.set(uuid, message)
    this.#messages.push({ role: message.role, content: textOf(message.content) })
  }

  get tools(): BetaToolUseBlock[] {
    return [...this.#answers.values()].flatMap(({ content }) => content.filter((block) => block.type === "tool_use"))
  }

  replay() {
    const messages = this.#messages
    async function* prompts() {
      for (const message of messages) yield { type: "user" as const, message, parent_tool_use_id: null, session_id: "" }
    }
    return query({ prompt: prompts() })
  }

  get tokens(): number {
    return this.#tokens
  }
}

/** Puts a stream together again, as the API's client does. */
export function follow(event: BetaRawMessageStreamEvent, text: string): string {
  switch (event.type) {
    case "message_start":
      return textOf(event.message.content)
    case "content_block_delta":
      return event.delta.type === "text_delta" ? text + event.delta.text : text
    case "message_delta":
      return event.delta.stop_reason === "refusal" ? "" : text
    case "content_block_start":
    case "content_block_stop":
    case "message_stop":
      return text
  }
}
export const followed = (message: SDKPartialAssistantMessage): string => follow(message.event, "")

export function resultsIn(message: SDKUserMessage): ToolResultBlockParam[] {
  const { content } = message.message
  const blocks: ContentBlockParam[] = typeof content === "string" ? [] : content
  return blocks.filter((block) => block.type === "tool_result")
}

export function pictured(data: string, note: string): SDKUserMessage {
  const content: ContentBlockParam[] = [
    { type: "image", source: { type: "base64", media_type: "image/png", data } },
    { type: "document", source: { type: "url", url: "http://127.0.0.1:9/a.pdf" }, title: null },
    { type: "text", text: note, cache_control: { type: "ephemeral", ttl: "5m" } },
  ]
  return asPrompt({ role: "user", content })
}

/** What a test of such a program makes up. */
export function madeUp(message: BetaMessage, uuid: UUID): SDKMessage[] {
  const stop: BetaRawMessageStreamEvent = { type: "message_stop" }
  return [
    { type: "assistant", message, parent_tool_use_id: null, uuid, session_id: "s" },
    { type: "stream_event", event: stop, parent_tool_use_id: null, uuid, session_id: "s" },
  ]
}
