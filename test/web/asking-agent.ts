import { randomUUID } from "node:crypto"
import { RawSocket } from "../hub/abuse-socket.ts"
import type { HubProcess, Json } from "../hub/hub-process.ts"

interface AskingAgentOptions {
  readonly title: string
  readonly cwd?: string
  /** Answers to the hub's requests, by their subtype, now or later; anything else gets an empty success. */
  readonly replies?: Readonly<Record<string, Json>>
}

/** An agent's side of the wire by hand: it asks what a test wants, takes it back, and keeps what it was answered. */
export class AskingAgent {
  readonly id: string
  readonly #socket: RawSocket
  readonly #sessionId = randomUUID()

  private constructor(id: string, socket: RawSocket) {
    this.id = id
    this.#socket = socket
  }

  static async dial(
    hub: HubProcess,
    { title, cwd = "/srv/api", replies = {} }: AskingAgentOptions,
  ): Promise<AskingAgent> {
    const session = await hub.post("/api/sessions", { agent: "external", title })
    const socket = await RawSocket.open(session.ingress.url, { token: session.ingress.token })
    const agent = new AskingAgent(session.id, socket)
    const answer = async (line: Json) => {
      if (line.type !== "control_request") return
      const reply = (await replies[line.request.subtype]) ?? {}
      const response = { subtype: "success", request_id: line.request_id, response: reply }
      socket.say({ type: "control_response", response })
    }
    for (const line of socket.lines) void answer(line)
    socket.onLine = (line) => void answer(line)
    agent.say({ type: "system", subtype: "init", cwd, tools: [], model: "claude-test", permissionMode: "default" })
    return agent
  }

  say(message: Json): void {
    this.#socket.say({ session_id: this.#sessionId, uuid: randomUUID(), ...message })
  }

  /** Asks whether it may use a tool; more facts of the request can be given. */
  ask(input: Json, more: Json = {}): string {
    return this.request({
      subtype: "can_use_tool",
      tool_name: "Bash",
      tool_use_id: `toolu_${randomUUID()}`,
      input,
      ...more,
    })
  }

  request(request: Json): string {
    const requestId = randomUUID()
    this.#socket.say({ type: "control_request", request_id: requestId, request })
    return requestId
  }

  cancel(requestId: string): void {
    this.#socket.say({ type: "control_cancel_request", request_id: requestId })
  }

  /** What it was told on this question: never more than one line. */
  answersTo(requestId: string): readonly Json[] {
    return this.#socket.lines.filter(
      (line) => line.type === "control_response" && line.response.request_id === requestId,
    )
  }

  end(): void {
    this.#socket.end()
  }
}
