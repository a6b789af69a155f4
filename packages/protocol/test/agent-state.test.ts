import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  type AgentLine,
  type AgentState,
  composeAllow,
  composeUserMessage,
  type Envelope,
  idleAgent,
  isAtRest,
  isQuestion,
  questionSubtypes,
  stepAgent,
} from "../src/index.ts"

const received = (message: Envelope): AgentLine => ({ from: "agent", message })
const sent = (message: Envelope): AgentLine => ({ from: "host", message })
const after = (...lines: AgentLine[]): AgentState => lines.reduce(stepAgent, idleAgent)
const system = (subtype: string, fields: object = {}) => received({ type: "system", subtype, ...fields })

const prompt = sent(composeUserMessage("hello"))
const init = system("init", { session_id: "s1", model: "m", cwd: "/w", capabilities: ["a"] })
const result = received({ type: "result", subtype: "success" })
const report = (state: string) => system("session_state_changed", { state })
const status = (value: string | null, fields: object = {}) => system("status", { status: value, ...fields })
const question = (id: string, subtype = "can_use_tool", tool_use_id = `toolu-${id}`) =>
  received({ type: "control_request", request_id: id, request: { subtype, tool_use_id, tool_name: "Bash", input: {} } })
const answer = (id: string) => sent(composeAllow({ request_id: id, request: { input: {} } }))
const cancel = (id: string) => received({ type: "control_cancel_request", request_id: id })
const tasks = (...all: readonly object[]) => system("background_tasks_changed", { tasks: all })
const started = (task_id: string, fields: object = {}) => system("task_started", { task_id, ...fields })
const idsOf = ({ open }: AgentState) => [...open.keys()]

describe("what an agent is doing", () => {
  it("[S2] a turn runs from the user message, or the init, to its result; every turn brings a new init", () => {
    expect(after().phase).toBe("idle")
    expect(after(prompt)).toMatchObject({ phase: "working", turn: "awaited" })
    expect(after(prompt, init)).toMatchObject({ phase: "working", turn: "running" })
    expect(after(init).turn).toBe("running")
    expect(after(prompt, init, result).phase).toBe("idle")
    expect(after(prompt, init, result, init).turn).toBe("running")
  })

  it("[S2] whoever joins in mid-turn sees it running; a sub-agent's words start no turn", () => {
    expect(after(received({ type: "assistant", parent_tool_use_id: null, message: {} })).turn).toBe("running")
    expect(after(received({ type: "assistant", parent_tool_use_id: "t", message: {} })).turn).toBe("none")
    expect(after(prompt, received({ type: "stream_event", parent_tool_use_id: null })).turn).toBe("running")
  })

  it("[S2] a message that is only appended starts no turn, and neither does a request to the model", () => {
    expect(after(sent(composeUserMessage("note", { shouldQuery: false }))).phase).toBe("idle")
    expect(after(status("requesting")).phase).toBe("idle")
  })

  it("[S3] the init tells the facts, and a status changes the permission mode", () => {
    const state = after(init, status(null, { permissionMode: "plan" }))
    const facts = { session_id: "s1", model: "m", cwd: "/w", permissionMode: "plan", capabilities: ["a"] }
    expect(state).toMatchObject({ turn: "running", facts })
    expect(stepAgent(state, init).facts).toBe(state.facts)
  })

  it("[S4] a question to a person makes it asked; its answer or its cancellation makes it go on", () => {
    const asked = after(prompt, init, question("q1"))
    expect(asked).toMatchObject({ phase: "asked", turn: "running" })
    expect(stepAgent(asked, answer("q1")).phase).toBe("working")
    expect(stepAgent(asked, cancel("q1")).phase).toBe("working")
    expect(stepAgent(asked, answer("other"))).toBe(asked)
    expect(questionSubtypes.every((subtype) => after(question("q", subtype)).phase === "asked")).toBe(true)
  })

  it("[S4] several questions may be open; a repeated delivery opens no second one", () => {
    const both = after(prompt, question("q1"), question("q2", "elicitation"), question("q1"))
    expect(idsOf(both)).toEqual(["q1", "q2"])
    expect(stepAgent(both, answer("q1"))).toMatchObject({ phase: "asked" })
    expect(idsOf(stepAgent(both, answer("q1")))).toEqual(["q2"])
  })

  it("[S12] hooks and calls of a program are waited for, but nobody is asked", () => {
    const hook = received({
      type: "control_request",
      request_id: "h",
      request: { subtype: "hook_callback", callback_id: "cb", input: { hook_event_name: "PreToolUse" } },
    })
    const state = after(prompt, init, hook, question("m", "mcp_message"), result)
    expect(state).toMatchObject({ phase: "idle", turn: "none" })
    expect([...state.open]).toEqual([
      ["h", { kind: "hook", callbackId: "cb", event: "PreToolUse" }],
      ["m", { kind: "call" }],
    ])
    expect(isAtRest(state)).toBe(false)
    expect(isAtRest([answer("h"), answer("m")].reduce(stepAgent, state))).toBe(true)
  })

  it("[S12] asked again about the same tool call, the first question is not waited for any more", () => {
    expect(idsOf(after(question("q1", "can_use_tool", "t"), question("q2", "can_use_tool", "t")))).toEqual(["q2"])
  })

  it("[S5] a result closes no question: background tasks ask after one", () => {
    const state = after(prompt, question("q1"), result)
    expect(state).toMatchObject({ phase: "asked", turn: "none" })
    expect(stepAgent(state, answer("q1")).phase).toBe("idle")
  })

  it("[S6] compacting lasts until its status is gone", () => {
    expect(after(prompt, init, status("compacting")).turn).toBe("compacting")
    expect(after(prompt, init, status("compacting"), status(null)).turn).toBe("running")
    expect(after(status(null)).turn).toBe("none")
  })

  it("[S9] a newer CLI's own report is followed", () => {
    expect(after(report("running"))).toMatchObject({ turn: "running", reported: "busy" })
    expect(after(prompt, report("idle"))).toMatchObject({ turn: "none", reported: "idle", owesTurn: true })
    expect(after(prompt, report("requires_action"))).toMatchObject({ turn: "awaited", reported: "busy" })
    expect(after(report("running"), result)).toMatchObject({ turn: "none", reported: "busy" })
  })

  it("[S11] the whole set of background tasks counts where it is told, without the ambient ones", () => {
    const state = after(tasks({ task_id: "a" }, { task_id: "b", ambient: true }))
    expect([...state.tasks]).toEqual(["a"])
    expect(isAtRest(state)).toBe(false)
    expect(isAtRest(after(tasks({ task_id: "b", ambient: true })))).toBe(true)
    expect(stepAgent(state, started("c"))).toBe(state)
    expect(isAtRest(stepAgent(state, tasks()))).toBe(true)
  })

  it("[S11] an older CLI's tasks count from their start to their end, in the background or where it does not say", () => {
    expect([...after(started("a"), started("b", { is_backgrounded: true })).tasks]).toEqual(["a", "b"])
    expect(after(started("a", { is_backgrounded: false }), started("b", { ambient: true })).tasks.size).toBe(0)
    const updated = (patch: object) => system("task_updated", { task_id: "a", patch })
    expect(after(started("a", { is_backgrounded: false }), updated({ is_backgrounded: true })).tasks.size).toBe(1)
    for (const end of [system("task_notification", { task_id: "a" }), updated({ status: "killed" })]) {
      expect(after(started("a"), end)).toMatchObject({ mayWake: true, tasks: new Set() })
    }
  })

  it("[S14] a message is owed a turn until one begins; a task that has ended may wake the agent until one does", () => {
    const owed = after(prompt, init, prompt, result)
    expect(owed).toMatchObject({ phase: "idle", owesTurn: true })
    expect(stepAgent(owed, init).owesTurn).toBe(false)
    const ended = after(prompt, init, tasks({ task_id: "a" }), result, tasks())
    expect(ended).toMatchObject({ phase: "idle", mayWake: true })
    expect(stepAgent(ended, init).mayWake).toBe(false)
    expect(stepAgent(ended, report("idle")).mayWake).toBe(false)
  })
})

const id = fc.constantFrom("a", "b", "c")
const anyLine: fc.Arbitrary<AgentLine> = fc.oneof(
  fc.constantFrom(prompt, init, result, status("compacting"), status(null), status("requesting")),
  fc.constantFrom("idle", "running", "requires_action").map(report),
  fc.tuple(id, fc.constantFrom(...questionSubtypes, "mcp_message", "hook_callback"), id).map((all) => question(...all)),
  id.map(answer),
  id.map(cancel),
  fc.array(fc.record({ task_id: id, ambient: fc.boolean() })).map((all) => tasks(...all)),
  fc.tuple(id, fc.boolean()).map(([task, is_backgrounded]) => started(task, { is_backgrounded })),
  id.map((task_id) => system("task_notification", { task_id })),
)
const type = fc.constantFrom("system", "result", "control_request", "control_response", "assistant", "user", "x")
const anything: fc.Arbitrary<AgentLine> = fc
  .tuple(
    fc.constantFrom("agent" as const, "host" as const),
    type,
    fc.dictionary(
      fc.constantFrom("subtype", "status", "state", "request", "response", "request_id", "tasks", "task_id", "patch"),
      fc.anything(),
    ),
  )
  .map(([from, name, fields]) => ({ from, message: { ...fields, type: name } }))

describe("whatever is said", () => {
  it("[S10] no message makes a step throw, and one that changes nothing returns the same state", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyLine, anything)), (lines) => {
        const state = after(...lines)
        expect(stepAgent(state, received({ type: "keep_alive" }))).toBe(state)
        for (const line of lines) {
          const once = stepAgent(state, line)
          expect(stepAgent(once, line)).toBe(once)
        }
      }),
    )
  })

  it("[S4] [S5] the phase is asked exactly while a question is open, and idle only without a turn", () => {
    fc.assert(
      fc.property(fc.array(anyLine), (lines) => {
        const { phase, turn, open } = after(...lines)
        const isAsked = [...open.values()].some(({ kind }) => kind === "question")
        expect(phase === "asked").toBe(isAsked)
        expect(phase === "idle").toBe(!isAsked && turn === "none")
      }),
    )
  })

  it("[S12] when everything that was asked is answered or taken back, nothing of it is kept", () => {
    fc.assert(
      fc.property(fc.array(anyLine), fc.boolean(), (lines, isAnswered) => {
        const state = after(...lines)
        const settled = idsOf(state).map(isAnswered ? answer : cancel)
        expect(settled.reduce(stepAgent, state).open.size).toBe(0)
      }),
    )
  })

  it("[S13] what is kept is bounded, however much is asked, started or told", () => {
    let state = after(tasks(...Array.from({ length: 20_000 }, (_, index) => ({ task_id: `t${index}` }))))
    expect(state.tasks.size).toBe(10_000)
    state = after(question("x".repeat(100_000)), started("x".repeat(100_000)))
    expect([state.open.size, state.tasks.size]).toEqual([0, 0])
    const long = "x".repeat(100_000)
    const capabilities = Array.from({ length: 5_000 }, () => long)
    const { facts } = after(system("init", { model: long, capabilities }))
    expect(facts.model).toHaveLength(4_096)
    expect(facts.capabilities).toHaveLength(1_000)
    expect(facts.capabilities?.[0]).toHaveLength(1_024)
    const full = { ...idleAgent, open: new Map(Array.from({ length: 10_000 }, (_, n) => [`${n}`, { kind: "call" }])) }
    expect(stepAgent(full as AgentState, question("one more"))).toBe(full)
  })

  it("[S4] the table of questions is the only one: a hook and an MCP call are none", () => {
    expect(["hook_callback", "mcp_message", "", undefined].some(isQuestion)).toBe(false)
  })
})
