import type { TranscriptEvent } from "../src/index.ts"

type Message = TranscriptEvent["message"]

/** A session's log, written event by event as a hub would number it. */
export class SessionLog {
  readonly events: TranscriptEvent[] = []
  #next = 0

  add(message: Message, origin: Partial<Pick<TranscriptEvent, "from" | "by">> = {}): this {
    const seq = this.events.length + 1
    const at = new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString()
    this.events.push({ seq, at, from: "agent", ...origin, message })
    return this
  }

  uuid(): string {
    return `u${++this.#next}`
  }

  prompt(text: string, options: { by?: string; uuid?: string } = {}): this {
    const { by = "ops", uuid = this.uuid() } = options
    return this.add(
      { type: "user", uuid, message: { role: "user", content: [{ type: "text", text }] } },
      { from: "client", by },
    )
  }

  init(facts: Record<string, unknown> = {}): this {
    return this.system("init", {
      model: "opus",
      permissionMode: "default",
      cwd: "/p",
      claude_code_version: "2.1.325",
      ...facts,
    })
  }

  system(subtype: string, facts: Record<string, unknown> = {}): this {
    return this.add({ type: "system", subtype, uuid: this.uuid(), ...facts })
  }

  says(id: string, block: Record<string, unknown>, extra: Record<string, unknown> = {}): this {
    const message = { id, role: "assistant", model: "opus", content: [block] }
    return this.add({ type: "assistant", uuid: this.uuid(), parent_tool_use_id: null, message, ...extra })
  }

  text(id: string, text: string, extra: Record<string, unknown> = {}): this {
    return this.says(id, { type: "text", text }, extra)
  }

  call(id: string, tool: { id: string; name: string; input?: unknown }, extra: Record<string, unknown> = {}): this {
    return this.says(id, { type: "tool_use", input: {}, ...tool }, extra)
  }

  result(toolUseId: string, content: unknown, extra: Record<string, unknown> = {}): this {
    const { is_error = false, ...rest } = extra
    const block = { type: "tool_result", tool_use_id: toolUseId, content, is_error }
    const message = { role: "user", content: [block] }
    return this.add({ type: "user", uuid: this.uuid(), parent_tool_use_id: null, message, ...rest })
  }

  /** A page of a document, as older CLIs tell it. */
  page(data = "AAAA"): this {
    const content = [{ type: "image", source: { type: "base64", media_type: "image/jpeg", data } }]
    return this.add({ type: "user", uuid: this.uuid(), isSynthetic: true, message: { role: "user", content } })
  }

  asks(requestId: string, tool: { id: string; name: string; input?: unknown }): this {
    const request = { subtype: "can_use_tool", tool_name: tool.name, input: tool.input ?? {}, tool_use_id: tool.id }
    return this.add({ type: "control_request", request_id: requestId, request })
  }

  answer(requestId: string, response: Record<string, unknown>, by = "ops"): this {
    const message = { type: "control_response", response: { subtype: "success", request_id: requestId, response } }
    return this.add(message, { from: "client", by })
  }

  ends(facts: Record<string, unknown> = {}): this {
    const usage = { input_tokens: 10, output_tokens: 5 }
    const common = { is_error: false, num_turns: 1, duration_ms: 1500, total_cost_usd: 0.1, usage }
    return this.add({ type: "result", subtype: "success", uuid: this.uuid(), result: "", ...common, ...facts })
  }

  hub(subtype: string, facts: Record<string, unknown> = {}): this {
    return this.add({ type: "hub", subtype, ...facts }, { from: "hub" })
  }
}
