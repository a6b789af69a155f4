import { describe, expect, it } from "vitest"
import { initialRunState, judgeRun, type RunInput, stepRun } from "../src/engine/input-lifetime.ts"
import { type Options, query, type SDKUserMessage } from "../src/index.ts"
import { ask, canUseBash, fakeAgent, hear, result, type Step, state, system } from "./fake-agent.ts"

const task = { task_id: "t-1", task_type: "local_agent", description: "d" }
const allow = { canUseTool: async () => ({ behavior: "allow" as const }) }
const answered = { subtype: "success", response: { behavior: "allow" } }

function message(text: string): SDKUserMessage {
  return { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null }
}

/** The agent's background task asks when the first result is long said; only then it goes on. */
function lateQuestion(tells: { before: unknown[]; after: unknown[] }): Step[] {
  return [
    { until: "user" },
    ...tells.before.map((say) => ({ say })),
    { pause: 100 },
    { say: ask("late", canUseBash) },
    { until: "control_response" },
    ...tells.after.map((say) => ({ say })),
  ]
}

describe("the agent's input", () => {
  it("[Q22] stays open for a background task: its late question gets its answer, on a CLI that reports its state", async () => {
    const agent = fakeAgent(
      lateQuestion({
        before: [
          state("running"),
          system("init"),
          system("background_tasks_changed", { tasks: [task] }),
          system("task_started", { task_id: "t-1", description: "d" }),
          result({ result: "first" }),
          state("idle"),
        ],
        after: [
          system("background_tasks_changed", { tasks: [] }),
          state("running"),
          system("init"),
          result({ result: "second" }),
          state("idle"),
        ],
      }),
      allow,
    )
    const { messages, error } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(error).toBeUndefined()
    expect(agent.answers()["late"]).toMatchObject(answered)
    expect(messages.filter(({ type }) => type === "result")).toHaveLength(2)
  })

  it("[Q22] the same on an older one, that tells of each task only when it begins and ends", async () => {
    const agent = fakeAgent(
      lateQuestion({
        before: [system("init"), system("task_started", { task_id: "t-1", description: "d" }), result()],
        after: [system("task_notification", { task_id: "t-1", status: "completed" }), system("init"), result()],
      }),
      allow,
    )
    const { kinds } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.answers()["late"]).toMatchObject(answered)
    expect(kinds.filter((kind) => kind === "result/success")).toHaveLength(2)
  })

  it("[Q20] stays open while a question is unanswered, also after the result", async () => {
    const agent = fakeAgent(
      [
        { until: "user" },
        { say: ask("q-1", canUseBash) },
        { say: result() },
        { until: "control_response" },
        { say: { type: "answered" } },
      ],
      {
        canUseTool: async () => {
          await agent.untilLogged(({ line }) => line?.type === "user")
          return { behavior: "allow" }
        },
      },
    )
    const { kinds } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(kinds).toEqual(["result/success", "answered"])
  })

  it("[Q21] an idle that is older than the last message does not end it", async () => {
    const steps = [
      { until: "user" },
      { say: state("running") },
      { say: result({ result: "first" }) },
      { until: "user" },
      { say: state("idle") },
      { pause: 100 },
      { say: state("running") },
      { say: system("init") },
      { say: ask("late", canUseBash) },
      { until: "control_response" },
      { say: result({ result: "second" }) },
      { say: state("idle") },
    ]
    const agent = fakeAgent(steps, allow)
    let next: () => void = () => undefined
    const first = new Promise<void>((resolve) => {
      next = resolve
    })
    async function* prompt() {
      yield message("one")
      await first
      yield message("two")
    }
    const running = query({ prompt: prompt(), options: agent.options })
    const results: string[] = []
    for await (const said of running) {
      if (said.type === "result" && said.subtype === "success") results.push(said.result)
      next()
    }
    expect(results).toEqual(["first", "second"])
    expect(agent.answers()["late"]).toMatchObject(answered)
  })

  it("[Q24] what the agent says after the end of its input is yielded, a whole turn of it", async () => {
    const agent = fakeAgent([
      { until: "user" },
      { say: result() },
      { until: "end" },
      { say: system("init") },
      { say: result() },
      { exit: 0 },
    ])
    const { kinds } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(kinds).toEqual(["result/success", "system/init", "result/success"])
  })

  it("[Q20] ends at once when there is nothing to ask", async () => {
    async function* nothing(): AsyncGenerator<SDKUserMessage> {}
    const agent = fakeAgent([{ until: "end" }, { exit: 0 }])
    expect((await hear(query({ prompt: nothing(), options: agent.options }))).kinds).toEqual([])
  })

  it("[Q25] ends with the iterable where nothing can be asked: an agent that answers only then is heard", async () => {
    const agent = fakeAgent([{ until: "end" }, { say: system("init") }, { say: result() }, { exit: 0 }])
    async function* prompt() {
      yield message("one")
      yield message("two")
    }
    expect((await hear(query({ prompt: prompt(), options: agent.options }))).kinds).toEqual([
      "system/init",
      "result/success",
    ])
    expect(agent.sent("user")).toHaveLength(2)
  })

  it.each<[string, Options]>([
    ["a callback", allow],
    ["a hook", { hooks: { Stop: [{ hooks: [async () => ({})] }] } }],
    ["a server", { mcpServers: { s: { type: "sdk", name: "s", instance: { connect: async () => undefined } } } }],
  ])("[Q25] stays open until the result with %s to answer with", async (_what, options) => {
    const agent = fakeAgent([{ until: "user" }, { pause: 100 }, { say: result() }, { until: "end" }], options)
    async function* prompt() {
      yield message("one")
    }
    const running = query({ prompt: prompt(), options: agent.options })
    const first = await running.next()
    const hasEnded = agent.log().some(({ end }) => end === true)
    expect(first.value).toMatchObject({ type: "result" })
    expect(hasEnded).toBe(false)
    await hear(running)
  })

  it("[Q20] stays open until the iterable is exhausted, however many results there were", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: result() }, { until: "user" }, { say: result() }])
    let heard: () => void = () => undefined
    const first = new Promise<void>((resolve) => {
      heard = resolve
    })
    async function* prompt() {
      yield message("one")
      await first
      yield message("two")
    }
    let results = 0
    for await (const said of query({ prompt: prompt(), options: agent.options })) {
      if (said.type === "result") results++
      heard()
    }
    expect(results).toBe(2)
    expect(agent.sent("user")).toHaveLength(2)
  })
})

describe("when a run is over", () => {
  const NOTHING = { asked: 0, calls: 0, mayBeAsked: true }
  const run = (...inputs: RunInput[]) => inputs.reduce(stepRun, initialRunState)
  const said = (subtype: string, fields: Record<string, unknown> = {}): RunInput => ({
    kind: "line",
    from: "agent",
    message: { type: "system", subtype, ...fields },
  })
  const says = (name: string) => said("session_state_changed", { state: name })
  const sent: RunInput = { kind: "line", from: "host", message: { type: "user" } }
  const answeredTurn: RunInput = { kind: "line", from: "agent", message: { type: "result" } }

  it("[Q20] is never while a prompt is open or a question unanswered", () => {
    expect(judgeRun(run({ kind: "prompt-opened", isText: false }), NOTHING).kind).toBe("open")
    expect(judgeRun(run(sent, answeredTurn), { ...NOTHING, asked: 1 }).kind).toBe("open")
    expect(judgeRun(run(sent), NOTHING).kind).toBe("open")
  })

  it("[Q25] is at the end of the iterable where nothing can be asked, but for calls and tasks that were heard of", () => {
    const oneWay = { ...NOTHING, mayBeAsked: false }
    const text: RunInput = { kind: "prompt-opened", isText: true }
    expect(judgeRun(run(sent), oneWay).kind).toBe("over")
    expect(judgeRun(run(sent, says("running"), said("init")), oneWay).kind).toBe("over")
    expect(judgeRun(run(sent), { ...oneWay, asked: 1 }).kind).toBe("open")
    expect(judgeRun(run(sent), { ...oneWay, calls: 1 }).kind).toBe("settling")
    expect(judgeRun(run(sent, said("background_tasks_changed", { tasks: [task] })), oneWay).kind).toBe("open")
    expect(judgeRun(run(text, sent, { kind: "prompt-ended" }), oneWay).kind).toBe("open")
  })

  it("[Q21] is told by the agent where it tells", () => {
    const working = [sent, says("running"), said("init"), answeredTurn]
    expect(judgeRun(run(...working), NOTHING).kind).toBe("open")
    expect(judgeRun(run(...working, says("requires_action")), NOTHING).kind).toBe("open")
    expect(judgeRun(run(...working, says("idle")), NOTHING).kind).toBe("over")
    expect(judgeRun(run(...working, sent, says("idle")), NOTHING).kind).toBe("settling")
    expect(judgeRun(run(...working, sent, says("idle"), says("running")), NOTHING).kind).toBe("open")
  })

  it("[Q23] is counted where it does not, and waited for where one turn may have answered several messages", () => {
    expect(judgeRun(run(sent, answeredTurn), NOTHING).kind).toBe("over")
    expect(judgeRun(run(sent, sent, answeredTurn), NOTHING).kind).toBe("settling")
    expect(judgeRun(run(sent, sent, answeredTurn, said("init")), NOTHING).kind).toBe("open")
    expect(judgeRun(run(sent, sent, answeredTurn, said("init"), answeredTurn), NOTHING).kind).toBe("over")
  })

  it("[Q22] is not while a task runs; when it has ended the agent may wake", () => {
    const started = [
      sent,
      says("running"),
      answeredTurn,
      said("background_tasks_changed", { tasks: [task] }),
      says("idle"),
    ]
    expect(judgeRun(run(...started), NOTHING).kind).toBe("open")
    const ended = [...started, said("background_tasks_changed", { tasks: [] })]
    expect(judgeRun(run(...ended), NOTHING).kind).toBe("settling")
    expect(judgeRun(run(...ended, says("running"), answeredTurn, says("idle")), NOTHING).kind).toBe("over")
  })

  it("[Q22] waits for no ambient task, nor for one in the foreground", () => {
    const ambient = said("background_tasks_changed", { tasks: [{ ...task, ambient: true }] })
    expect(judgeRun(run(sent, answeredTurn, ambient), NOTHING).kind).toBe("over")
    const foreground = said("task_started", { task_id: "t-1", is_backgrounded: false })
    expect(judgeRun(run(sent, foreground, answeredTurn), NOTHING).kind).toBe("over")
    const moved = said("task_updated", { task_id: "t-1", patch: { is_backgrounded: true } })
    expect(judgeRun(run(sent, foreground, moved, answeredTurn), NOTHING).kind).toBe("open")
  })

  it("[Q23] waits for an answer to a call of ours, but not for ever: an old CLI may never give it", () => {
    expect(judgeRun(run(sent, answeredTurn), { ...NOTHING, calls: 1 }).kind).toBe("settling")
  })
})
