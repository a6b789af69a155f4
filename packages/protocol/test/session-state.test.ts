import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  composeAllow,
  composeUserMessage,
  type Envelope,
  initialSessionState,
  openRequests,
  type SessionInput,
  type SessionState,
  stepSession,
} from "../src/index.ts"

const received = (message: Envelope): SessionInput => ({ kind: "received", message })
const sent = (message: Envelope): SessionInput => ({ kind: "sent", message })
const after = (...inputs: SessionInput[]): SessionState => inputs.reduce(stepSession, initialSessionState)

const initialized = received({ type: "control_response", response: { subtype: "success", request_id: "i" } })
const prompt = sent(composeUserMessage("hello"))
const init = received({ type: "system", subtype: "init", session_id: "s1", model: "m", cwd: "/w", capabilities: ["a"] })
const result = received({ type: "result", subtype: "success" })
const status = (value: string | null, mode?: string) =>
  received({
    type: "system",
    subtype: "status",
    status: value,
    ...(mode === undefined ? {} : { permissionMode: mode }),
  })
const question = (id: string, subtype = "can_use_tool") =>
  received({ type: "control_request", request_id: id, request: { subtype, tool_name: "Bash", input: {} } })
const answer = (id: string) => sent(composeAllow({ request_id: id, request: { input: {} } }))
const cancel = (id: string) => received({ type: "control_cancel_request", request_id: id })

describe("session state", () => {
  it("[S1] starts as starting and is idle from the agent's first line on", () => {
    expect(after().phase).toBe("starting")
    expect(after({ kind: "connected" }).phase).toBe("starting")
    expect(after(initialized).phase).toBe("idle")
    expect(after({ kind: "disconnected" }, { kind: "connected" }).phase).toBe("starting")
    expect(after({ kind: "disconnected" }, { kind: "connected" }, initialized).phase).toBe("idle")
  })

  it("[S1] a message sent before the agent spoke makes it running when it does", () => {
    expect(after(prompt).phase).toBe("starting")
    expect(after(prompt, initialized).phase).toBe("running")
  })

  it("[S2] a turn runs from the user message, or the init, to its result; every turn brings a new init", () => {
    expect(after(initialized, prompt).phase).toBe("running")
    expect(after(initialized, init).phase).toBe("running")
    expect(after(initialized, prompt, init, result).phase).toBe("idle")
    expect(after(initialized, prompt, init, result, init).phase).toBe("running")
  })

  it("[S2] whoever joins in mid-turn sees it running; a sub-agent's words do not start a turn", () => {
    expect(after(received({ type: "assistant", parent_tool_use_id: null, message: {} })).phase).toBe("running")
    expect(after(received({ type: "assistant", parent_tool_use_id: "t", message: {} })).phase).toBe("idle")
  })

  it("[S3] the init tells the facts, and a status changes the permission mode", () => {
    const state = after(initialized, init, status(null, "plan"))
    expect(state.facts).toMatchObject({
      session_id: "s1",
      model: "m",
      cwd: "/w",
      permissionMode: "plan",
      capabilities: ["a"],
    })
    expect(state.phase).toBe("running")
  })

  it("[S4] a question makes it waiting, its answer or its cancellation makes it go on", () => {
    const waiting = after(initialized, prompt, question("q1"))
    expect(waiting).toMatchObject({ phase: "waiting", requestIds: ["q1"], activity: "running" })
    expect(stepSession(waiting, answer("q1")).phase).toBe("running")
    expect(stepSession(waiting, cancel("q1")).phase).toBe("running")
    expect(stepSession(waiting, answer("other"))).toBe(waiting)
  })

  it("[S4] several questions may be open; a repeated delivery opens no second one", () => {
    const both = after(initialized, prompt, question("q1"), question("q2", "elicitation"), question("q1"))
    expect(openRequests(both)).toEqual(["q1", "q2"])
    expect(stepSession(both, answer("q1"))).toMatchObject({ phase: "waiting", requestIds: ["q2"] })
  })

  it("[S4] hook and MCP requests are not questions", () => {
    expect(after(initialized, prompt, question("h", "hook_callback"), question("m", "mcp_message")).phase).toBe(
      "running",
    )
  })

  it("[S5] a result closes no question: background tasks ask after one", () => {
    const state = after(initialized, prompt, question("q1"), result)
    expect(state).toMatchObject({ phase: "waiting", activity: "idle" })
    expect(stepSession(state, answer("q1")).phase).toBe("idle")
  })

  it("[S6] compacting lasts until its status is gone", () => {
    expect(after(initialized, prompt, init, status("compacting")).phase).toBe("compacting")
    expect(after(initialized, prompt, init, status("compacting"), status(null)).phase).toBe("running")
    expect(after(initialized, status(null)).phase).toBe("idle")
  })

  it("[S7] a lost connection keeps the questions and what was going on; coming back restores both", () => {
    const lost = after(initialized, prompt, init, question("q1"), { kind: "disconnected" })
    expect(lost).toMatchObject({ phase: "disconnected", requestIds: ["q1"], activity: "running" })
    expect(stepSession(lost, { kind: "connected" })).toMatchObject({ phase: "waiting", requestIds: ["q1"] })
    expect(stepSession(stepSession(lost, answer("q1")), { kind: "connected" }).phase).toBe("running")
  })

  it("[S8] ended is final", () => {
    const ended = after(initialized, prompt, { kind: "ended", exit: { exitCode: 1 } })
    expect(ended).toMatchObject({ phase: "ended", exit: { exitCode: 1 } })
    for (const input of [prompt, init, { kind: "connected" } as const, result])
      expect(stepSession(ended, input)).toBe(ended)
  })

  it("[S9] a newer CLI's own report is followed", () => {
    const report = (state: string) => received({ type: "system", subtype: "session_state_changed", state })
    expect(after(initialized, report("running")).phase).toBe("running")
    expect(after(initialized, prompt, report("idle")).phase).toBe("idle")
    expect(after(initialized, prompt, report("requires_action")).phase).toBe("running")
  })

  it("[S10] no message whatever makes a step throw, and one that changes nothing returns the same state", () => {
    const anyMessage = fc
      .record({ type: fc.string() })
      .chain((base) =>
        fc
          .dictionary(fc.constantFrom("subtype", "status", "state", "request", "response", "request_id"), fc.anything())
          .map((fields) => ({ ...fields, ...base })),
      )
    const typed = fc.constantFrom("system", "result", "control_request", "control_response", "assistant", "user", "x")
    fc.assert(
      fc.property(fc.array(fc.tuple(typed, anyMessage, fc.boolean())), (messages) => {
        let state = after(initialized)
        for (const [type, message, out] of messages) {
          state = stepSession(state, out ? sent({ ...message, type }) : received({ ...message, type }))
        }
        const noise = received({ type: "keep_alive" })
        expect(stepSession(state, noise)).toBe(state)
      }),
    )
  })
})
