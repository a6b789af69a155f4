// @ts-check
// An agent on the wire, as small as it can be: it dials a hub, takes `initialize`, confirms each message, and says what a
// script has it say. One that is cut off comes back as Claude Code does: it names its last message, and says again what the
// hub does not have.

import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { WebSocket } from "ws"

/** @typedef {Record<string, any>} Line an object of the wire */
/** @typedef {{ url: string, token: string }} Ingress as a session of an external agent tells it */
/** @typedef {{ sessionId?: string, lastUuid?: string }} Before what an agent that was here before is known by */

const PATIENCE_MS = 30_000
const RETRY_MS = 50

export class WireAgent {
  /** The hub's lines, but for `initialize`. @type {Line[]} */
  heard = []
  /** The agent's own id of its conversation. @type {string} */
  sessionId
  /** The address that it comes back to. @type {Ingress} */
  #ingress
  /** @type {string | undefined} */
  #lastUuid
  /** @type {WebSocket | undefined} */
  #socket
  /** @type {Line[]} */
  #said = []
  /** @type {Set<() => void>} */
  #listeners = new Set()
  #isInitialized = false
  #isOver = false

  /** @param {Ingress} ingress @param {Before} before */
  constructor(ingress, { sessionId = randomUUID(), lastUuid }) {
    this.#ingress = ingress
    this.sessionId = sessionId
    this.#lastUuid = lastUuid
    this.#isInitialized = lastUuid !== undefined
  }

  /** @param {Ingress} ingress @param {Before} [before] @returns {Promise<WireAgent>} */
  static async dial(ingress, before = {}) {
    const agent = new WireAgent(ingress, before)
    await agent.#dial()
    return agent
  }

  /** The last message that it said; a hub knows it by this when it comes back. */
  get lastUuid() {
    return this.#lastUuid
  }

  /** Goes away for good: without a goodbye, as one that is killed. */
  leave() {
    this.#isOver = true
    this.#socket?.terminate()
  }

  /** @param {Line} line @returns {Line} as it was said */
  say(line) {
    const own = line["type"] === "control_request" ? {} : { uuid: randomUUID() }
    const whole = { ...line, session_id: this.sessionId, ...own }
    this.#lastUuid = own.uuid ?? this.#lastUuid
    this.#said.push(whole)
    this.#send(whole)
    return whole
  }

  /** @param {string} cwd */
  begin(cwd) {
    const facts = { cwd, model: "claude-sonnet-4-5", permissionMode: "default", claude_code_version: "2.1.120" }
    const lists = {
      tools: ["Bash", "Read", "Write"],
      mcp_servers: [],
      slash_commands: [],
      agents: [],
      skills: [],
      plugins: [],
    }
    return this.say({
      type: "system",
      subtype: "init",
      ...facts,
      ...lists,
      apiKeySource: "none",
      output_style: "default",
    })
  }

  /** @param {string} text */
  speak(text) {
    const message = { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model: "claude-sonnet-4-5" }
    const content = [{ type: "text", text }]
    return this.say({ type: "assistant", message: { ...message, content }, parent_tool_use_id: null })
  }

  /** @param {string} tool @param {Line} input @param {Line} [more] */
  ask(tool, input, more = {}) {
    const request = { subtype: "can_use_tool", tool_name: tool, input, tool_use_id: `toolu_${randomUUID()}`, ...more }
    return this.say({ type: "control_request", request_id: randomUUID(), request })
  }

  /** @param {string} text */
  finish(text) {
    const usage = { input_tokens: 12, output_tokens: 34, cache_read_input_tokens: 5, cache_creation_input_tokens: 6 }
    const counts = { duration_ms: 20, duration_api_ms: 10, num_turns: 1, total_cost_usd: 0.0125, usage }
    return this.say({ type: "result", subtype: "success", is_error: false, result: text, ...counts })
  }

  /** The first line of the hub's that fits, now or later. @param {(line: Line) => boolean} fits @returns {Promise<Line>} */
  async hears(fits) {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const found = this.heard.find(fits)
      if (found !== undefined) return found
      const left = deadline - Date.now()
      if (left <= 0)
        throw new Error(`the hub said nothing of the kind; the last: ${JSON.stringify(this.heard.slice(-3))}`)
      await this.#more(left)
    }
  }

  /** The hub's answer to a request of the agent's. @param {Line} request */
  async answer(request) {
    const isIts = (/** @type {Line} */ line) =>
      line["type"] === "control_response" && line["response"]?.request_id === request["request_id"]
    return (await this.hears(isIts))["response"].response
  }

  /** @param {number} withinMs */
  #more(withinMs) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#listeners.delete(done)
        resolve(undefined)
      }
      const timer = setTimeout(done, withinMs)
      this.#listeners.add(done)
    })
  }

  /** @returns {Promise<void>} when it is let in; rejects when the hub does not want it */
  #dial() {
    const last = this.#lastUuid
    const { url, token } = this.#ingress
    const headers = { authorization: `Bearer ${token}`, ...(last === undefined ? {} : { "x-last-request-id": last }) }
    const socket = new WebSocket(url, { headers, perMessageDeflate: false })
    this.#socket = socket
    /** @type {string | undefined} */
    let known
    socket.on("upgrade", ({ headers: reply }) => {
      const header = reply["x-last-request-id"]
      known = Array.isArray(header) ? header[0] : header
    })
    socket.on("message", (data) => {
      const text = Buffer.isBuffer(data) ? data.toString() : ""
      for (const line of text.split("\n")) if (line !== "") this.#take(JSON.parse(line))
    })
    return new Promise((resolve, reject) => {
      socket.on("error", reject) // settled long before, it changes nothing
      socket.once("open", () => {
        socket.on("close", (code) => void this.#cut(code))
        this.#sayAgain(known)
        resolve()
      })
    })
  }

  /** @param {number} code */
  async #cut(code) {
    if (code === 1000 || code === 1001 || code === 4001) return
    while (!this.#isOver) {
      try {
        return await this.#dial()
      } catch {
        await pause(RETRY_MS)
      }
    }
  }

  /** @param {string | undefined} known the last message of this agent's that the hub has */
  #sayAgain(known) {
    const at = known === undefined ? -1 : this.#said.findIndex((line) => line["uuid"] === known)
    for (const line of this.#said.slice(at + 1)) this.#send(line)
  }

  /** @param {Line} line */
  #take(line) {
    const { type, request, request_id } = line
    if (type === "control_request" && request?.subtype === "initialize") {
      // By this a hub knows the same process again, also one that has said nothing yet.
      const again = { subtype: "error", request_id, error: "Already initialized", pending_permission_requests: [] }
      const response = this.#isInitialized ? again : { subtype: "success", request_id, response: { commands: [] } }
      this.#isInitialized = true
      return this.#send({ type: "control_response", response })
    }
    this.heard.push(line)
    // The echo is the receipt of a message.
    if (type === "user") this.#send({ ...line, session_id: this.sessionId, isReplay: true })
    for (const listener of this.#listeners) listener()
  }

  /** @param {Line} line */
  #send(line) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(`${JSON.stringify(line)}\n`)
  }
}
