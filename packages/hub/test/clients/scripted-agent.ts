import { randomUUID } from "node:crypto"
import { type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import type { Ingress } from "@signalbox/protocol/hub-api"
import { WebSocket } from "ws"
import { LineSocket, requestIn } from "./line-socket.ts"

/** An agent's side of the wire, by hand: it answers `initialize` and otherwise says what a test tells it to. */
export class ScriptedAgent {
  readonly wire: LineSocket
  readonly sessionId = randomUUID()

  readonly token: string

  private constructor(wire: LineSocket, token: string) {
    this.wire = wire
    this.token = token
  }

  /** `version`: what the agent says it is when it is greeted; an old one does not. */
  static async dial({ url, token }: Ingress, version?: string, lastRequestId?: string): Promise<ScriptedAgent> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastRequestId === undefined ? {} : { "x-last-request-id": lastRequestId }),
    }
    const wire = await LineSocket.open(new WebSocket(url, { headers }))
    const agent = new ScriptedAgent(wire, token)
    const hello = await wire.request("initialize")
    const told = version === undefined ? {} : { claude_code_version: version }
    wire.answer(hello, { commands: [{ name: "help" }], models: [], account: {}, ...told })
    return agent
  }

  /** The requests of this kind that it got, by now. */
  requests(subtype: string): readonly Envelope[] {
    return this.wire.messages.filter((message) => requestIn(message)?.["subtype"] === subtype)
  }

  say(message: Record<string, unknown>): string {
    const uuid = randomUUID()
    this.wire.send({ session_id: this.sessionId, uuid, ...message })
    return uuid
  }

  sayText(text: string): string {
    return this.say({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] } })
  }

  /** Asks, and resolves with what was answered. */
  ask(request: Record<string, unknown>, requestId: string = randomUUID()): Promise<Readonly<Record<string, unknown>>> {
    return this.wire.ask(requestId, request)
  }

  askPermission(requestId: string, input: Record<string, unknown> = { command: "ls" }) {
    return this.ask({ subtype: "can_use_tool", tool_name: "Bash", input, tool_use_id: `toolu-${requestId}` }, requestId)
  }

  callHook(event: string, input: Record<string, unknown>) {
    return this.ask({ subtype: "hook_callback", callback_id: `hub-hook:${event}`, input })
  }

  callServer(name: string, message: Record<string, unknown>) {
    return this.ask({ subtype: "mcp_message", server_name: name, message })
  }

  /** Answers the next request of this kind that it gets. */
  async take(subtype: string, response: unknown): Promise<Readonly<Record<string, unknown>>> {
    const request = await this.wire.request(subtype)
    this.wire.answer(request, response)
    return fieldOf(request, "request") ?? {}
  }

  /** The user message with these words. */
  hears(text: string): Promise<Envelope> {
    return this.wire.find((message) => message.type === "user" && JSON.stringify(message).includes(text), text)
  }

  close(): void {
    this.wire.close()
  }
}

export function payloadIn(reply: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return fieldOf(reply, "response") ?? {}
}

export function errorIn(reply: Readonly<Record<string, unknown>>): string {
  return textOf(reply, "error") ?? ""
}
