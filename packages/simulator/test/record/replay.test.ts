import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough, Readable } from "node:stream"
import {
  composeRequest,
  composeSuccess,
  composeUserMessage,
  type Envelope,
  encode,
  fieldOf,
  textOf,
} from "@signalbox/protocol"
import {
  type AgentClock,
  decodeRecording,
  encodeRecording,
  openReplay,
  type RecordedLine,
  type ReplayedAgent,
  recordTransport,
  replayOf,
  SimulatorError,
  scenarioOf,
} from "@signalbox/simulator"
import { createLinkedPair, type Transport } from "@signalbox/transport"
import { afterEach, describe, expect, it } from "vitest"
import { recordCommand } from "../../src/record/recording.ts"

const SESSION = "aaaaaaaa-0000-4000-8000-000000000001"
const OTHER = "bbbbbbbb-0000-4000-8000-000000000002"
const user = (text: string, uuid?: string) => composeUserMessage(text, uuid === undefined ? {} : { uuid })
const init = { type: "system", subtype: "init", session_id: SESSION, uuid: OTHER }
const said = (text: string) => ({
  type: "assistant",
  message: { id: "msg_1", role: "assistant", content: [{ type: "text", text }] },
  session_id: SESSION,
})
const result = { type: "result", subtype: "success", result: "ok", session_id: SESSION }
const ask = (id: string, request: Record<string, unknown>) => ({ type: "control_request", request_id: id, request })
const permission = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" } }

/** A recording from who said what, 100 ms apart unless a time is given. */
function recording(...said: [from: "host" | "agent", message: Envelope | string, at?: number][]): {
  lines: RecordedLine[]
} {
  let clock = 0
  return {
    lines: said.map(([from, message, at]) => {
      clock = at ?? clock + 100
      return { at: clock, from, line: typeof message === "string" ? message : encode(message) }
    }),
  }
}

/** A clock that stands still but for the waits it is asked for. */
class WaitCounter implements AgentClock {
  readonly waits: number[] = []
  #now = 0
  now(): number {
    return this.#now
  }
  async pause(ms: number): Promise<void> {
    this.waits.push(ms)
    this.#now += ms
  }
  timeout(_: number, run: () => void): () => void {
    const timer = setImmediate(run)
    return () => clearImmediate(timer)
  }
}

describe("a replay", () => {
  const open: { host: Transport; agent: ReplayedAgent }[] = []
  afterEach(async () => {
    for (const { host, agent } of open.splice(0)) {
      await host.close("test over")
      await agent.exited
    }
  })

  function play(
    recorded: { lines: RecordedLine[]; exitCode?: number },
    options: { timeScale?: number; clock?: AgentClock } = {},
  ) {
    const [host, end] = createLinkedPair()
    const agent = openReplay({ transport: end, replay: replayOf(recorded), timeScale: 0, seed: 1, ...options })
    open.push({ host, agent })
    const lines = host.lines[Symbol.asyncIterator]()
    const next = async (): Promise<Envelope> => {
      const { value, done } = await lines.next()
      if (done === true) throw new Error("the replay has ended")
      return JSON.parse(value)
    }
    return { host, agent, next, send: (message: Envelope) => host.send(encode(message)) }
  }

  it("[SR3] waits for the host where the original waited, and says nothing before", async () => {
    const { next, send } = play(
      recording(
        ["host", user("a")],
        ["agent", init],
        ["agent", result],
        ["host", user("b")],
        ["agent", said("second")],
      ),
    )
    await send(user("x"))
    expect([(await next()).type, (await next()).type]).toEqual(["system", "result"])
    let isSaid = false
    const second = next().then((message) => {
      isSaid = true
      return message
    })
    // Nothing more can be on its way once a request that has no place in the recording is answered.
    await new Promise((resolve) => setImmediate(resolve))
    expect(isSaid).toBe(false)
    await send(user("y"))
    expect(fieldOf(await second, "message")).toMatchObject({ content: [{ text: "second" }] })
  })

  it("[SR4] asks again under new ids, and goes on when the answer is there", async () => {
    const { next, send } = play(
      recording(
        ["host", user("a")],
        ["agent", ask("q-1", permission)],
        ["host", composeSuccess("q-1", { behavior: "allow", updatedInput: {} })],
        ["agent", ask("q-2", permission)],
        ["agent", { type: "control_cancel_request", request_id: "q-2" }],
        ["agent", result],
      ),
    )
    await send(user("x"))
    const first = await next()
    expect(first).toMatchObject({ type: "control_request", request: permission })
    expect(first["request_id"]).not.toBe("q-1")
    await send(composeSuccess(String(first["request_id"]), { behavior: "deny", message: "no" }))
    const second = await next()
    expect(second["request_id"]).not.toBe(first["request_id"])
    expect(await next()).toEqual({ type: "control_cancel_request", request_id: second["request_id"] })
    expect(await next()).toMatchObject({ type: "result" })
  })

  it("[SR4] replaces what is an id, keeps a text that looks like one, and names the host's messages as the host does", async () => {
    const [then, now] = ["cccccccc-0000-4000-8000-000000000003", "dddddddd-0000-4000-8000-000000000004"]
    const words = "see eeeeeeee-0000-4000-8000-000000000005"
    const { next, send } = play(
      recording(["host", user("a", then)], ["agent", { ...init, user_message_uuid: then }], ["agent", said(words)]),
    )
    await send(user("x", now))
    const [first, second] = [await next(), await next()]
    expect(first["user_message_uuid"]).toBe(now)
    expect(first["session_id"]).not.toBe(SESSION)
    expect(second["session_id"]).toBe(first["session_id"])
    expect(JSON.stringify(second)).toContain(words)
  })

  it("[SR5] answers what the host asks with what was answered then, whenever it asks", async () => {
    const hello = composeRequest("then", { subtype: "initialize" })
    const { next, send } = play(
      recording(
        ["host", hello],
        ["host", user("a")],
        ["agent", composeSuccess("then", { models: ["m"] })],
        ["agent", result],
      ),
    )
    // This host waits for the answer before it speaks; the recorded one did not.
    await send(composeRequest("now", { subtype: "initialize" }))
    expect(await next()).toMatchObject({
      response: { subtype: "success", request_id: "now", response: { models: ["m"] } },
    })
    await send(user("x"))
    expect(await next()).toMatchObject({ type: "result" })
  })

  it("[SR5] tells a host that asks for something new that the recording has no answer", async () => {
    const { next, send } = play(recording(["host", user("a")], ["agent", result]))
    await send(composeRequest("one", { subtype: "mcp_status" }))
    expect(await next()).toMatchObject({
      response: { subtype: "error", request_id: "one", error: /no answer to mcp_status/ },
    })
    await send(composeRequest("two", { subtype: "initialize" }))
    expect(await next()).toMatchObject({ response: { subtype: "success", request_id: "two" } })
  })

  it("[SR5] does not insist on a request that the host passes over", async () => {
    const hello = composeRequest("then", { subtype: "initialize" })
    const { next, send } = play(
      recording(["host", hello], ["agent", composeSuccess("then", {})], ["host", user("a")], ["agent", result]),
    )
    await send(user("x"))
    expect(await next()).toMatchObject({ type: "result" })
  })

  it("[SR6] calls the hooks that this host has registered, and asks nothing of those it has not", async () => {
    const hooks = (...ids: string[]) => ({ PreToolUse: ids.map((id) => ({ hookCallbackIds: [id] })) })
    const call = (id: string) => ask(`q-${id}`, { subtype: "hook_callback", callback_id: id, input: {} })
    const recorded = recording(
      ["host", composeRequest("then", { subtype: "initialize", hooks: hooks("h0", "h1"), sdkMcpServers: ["files"] })],
      ["agent", composeSuccess("then", {})],
      ["host", user("a")],
      ["agent", call("h0")],
      ["host", composeSuccess("q-h0", {})],
      ["agent", call("h1")],
      ["host", composeSuccess("q-h1", {})],
      ["agent", ask("q-mcp", { subtype: "mcp_message", server_name: "files", message: {} })],
      ["host", composeSuccess("q-mcp", {})],
      ["agent", result],
    )
    const { next, send } = play(recorded)
    await send(composeRequest("now", { subtype: "initialize", hooks: hooks("mine") }))
    await next()
    await send(user("x"))
    const called = await next()
    expect(called).toMatchObject({ request: { subtype: "hook_callback", callback_id: "mine" } })
    await send(composeSuccess(textOf(called, "request_id") ?? "", {}))
    expect(await next()).toMatchObject({ type: "result" })
  })

  it("[SR3] [SR5] waits for an interrupt in the middle of a turn, however long that takes", async () => {
    const stop = composeRequest("then", { subtype: "interrupt" })
    const { next, send } = play(
      recording(
        ["host", user("a")],
        ["agent", init],
        ["host", stop],
        ["agent", composeSuccess("then", {})],
        ["agent", result],
      ),
      // Its time-outs are over at once: whatever had one would not be waited for.
      { clock: new WaitCounter() },
    )
    await send(user("x"))
    await next()
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    await send(composeRequest("now", { subtype: "interrupt" }))
    expect(await next()).toMatchObject({ response: { subtype: "success", request_id: "now" } })
    expect(await next()).toMatchObject({ type: "result" })
  })

  it("[SR3] does not wait long for what the host said in the middle of a turn", async () => {
    const { next, send } = play(
      recording(["host", user("a")], ["agent", init], ["host", user("b")], ["agent", result], ["agent", said("more")]),
      { clock: new WaitCounter() },
    )
    await send(user("x"))
    expect([(await next()).type, (await next()).type, (await next()).type]).toEqual(["system", "result", "assistant"])
  })

  it.each([
    [1, [40, 60, 1000]],
    [0.5, [20, 30, 500]],
    [2, [80, 120, 2000]],
    [0, []],
  ])(
    "[SR7] plays at %s times the time it took, and how long the host took then does not count",
    async (timeScale, waits) => {
      const clock = new WaitCounter()
      const { next, send } = play(
        recording(
          ["host", user("a"), 5000],
          ["agent", init, 5040],
          ["agent", ask("q", permission), 5100],
          ["host", composeSuccess("q", {}), 65_000],
          ["agent", result, 66_000],
        ),
        { timeScale, clock },
      )
      await send(user("x"))
      await next()
      await send(composeSuccess(String((await next())["request_id"]), {}))
      await next()
      expect(clock.waits).toEqual(waits)
    },
  )

  it("[SR3] ends with the code the original ended with, when its input has ended", async () => {
    const { host, agent, next, send } = play({ ...recording(["host", user("a")], ["agent", result]), exitCode: 1 })
    await send(user("x"))
    await next()
    await host.close("done")
    expect(await agent.exited).toEqual({ code: 1 })
  })
})

describe("a recording", () => {
  it("[SR1] has both directions with times, a question always before its answer", async () => {
    const [host, agent] = createLinkedPair()
    const lines: RecordedLine[] = []
    let clock = 1000
    const recorded = recordTransport(host, { onLine: (line) => lines.push(line), now: () => (clock += 10) })
    await recorded.send('{"type":"user"}')
    await agent.send('{"type":"result"}')
    for await (const _ of recorded.lines) break
    expect(lines).toEqual([
      { at: 10, from: "host", line: '{"type":"user"}' },
      { at: 20, from: "agent", line: '{"type":"result"}' },
    ])
    await recorded.close()
    expect((await recorded.closed).by).toBe("us")
  })

  it("[SR2] keeps every line as it was, also one that is no JSON or has spaces in it", () => {
    const lines: RecordedLine[] = [
      { at: 0, from: "host", line: '{"type":"user"}' },
      { at: 5, from: "agent", line: '{ "type": "result", "cost": 1.0 }' },
      { at: 9, from: "agent", line: "Error: no" },
    ]
    const text = encodeRecording({ lines, exitCode: 1 })
    expect(text.split("\n")[1]).toBe('{"at":0,"from":"host","message":{"type":"user"}}')
    expect(decodeRecording(text, "r.ndjson")).toEqual({ lines, exitCode: 1 })
  })

  it("[SR2] loses only the line that was being written when the recorder died; any other that is wrong is named", () => {
    const text = encodeRecording(recording(["host", user("a")], ["agent", result]))
    expect(decodeRecording(text.slice(0, -30), "r.ndjson").lines).toHaveLength(1)
    const broken = text.replace('"from":"host"', '"from":"me"')
    expect(() => decodeRecording(broken, "r.ndjson")).toThrow(/^r\.ndjson:2: must be/)
    expect(() => decodeRecording("{}", "r.ndjson")).toThrow(SimulatorError)
  })

  it("[SR2] is cut into lines whatever the chunks, characters of several bytes too", async () => {
    const text = '{"a":"é€😀"}\n\n{"b":1}\nlast'
    const file = join(mkdtempSync(join(tmpdir(), "record-")), "cut.ndjson")
    const stdin = Readable.from([...Buffer.from(text)].map((byte) => Buffer.from([byte])))
    const stdout = new PassThrough().resume()
    expect(await recordCommand({ command: "cat", args: [], file, stdin, stdout })).toBe(0)
    const { lines } = decodeRecording(readFileSync(file, "utf8"), file)
    for (const end of ["host", "agent"]) {
      const said = lines.filter(({ from }) => from === end).map(({ line }) => line)
      expect(said).toEqual(['{"a":"é€😀"}', '{"b":1}', "last"])
    }
  })

  it("[SR8] as turns has words, calls with their results and times, sub-agents, retries, limits and costs", () => {
    const block = (id: string, content: Record<string, unknown>, extra: Record<string, unknown> = {}) => ({
      type: "assistant",
      message: { id, role: "assistant", model: "m", content: [content] },
      ...extra,
    })
    const done = (id: string, content: unknown, extra: Record<string, unknown> = {}) => ({
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, ...extra }] },
    })
    const call = (id: string, name: string, input: Record<string, unknown>) => ({ type: "tool_use", id, name, input })
    const scenario = scenarioOf(
      recording(
        ["host", user("a"), 0],
        ["agent", { type: "system", subtype: "api_retry", error_status: 529 }, 5],
        ["agent", { type: "rate_limit_event", rate_limit_info: { status: "allowed_warning", utilization: 0.9 } }, 6],
        ["agent", block("m1", { type: "thinking", thinking: "hm" }), 500],
        ["agent", block("m1", { type: "text", text: "I look." }), 500],
        ["agent", block("m1", call("t1", "Bash", { command: "ls" })), 501],
        ["agent", ask("q", permission), 502],
        ["host", composeSuccess("q", {}), 3000],
        ["agent", done("t1", "a b"), 3400],
        ["agent", block("m2", call("t2", "Task", { prompt: "p" })), 3401],
        ["agent", block("m3", { type: "text", text: "Inside." }, { parent_tool_use_id: "t2" }), 3402],
        ["agent", done("t2", "Inside."), 3403],
        ["agent", block("m4", call("t4", "Bash", { command: "rm" })), 3404],
        ["agent", done("t4", "denied", { is_error: true }), 3405],
        ["agent", block("m5", { type: "text", text: "Done." }), 3406],
        ["agent", { ...result, total_cost_usd: 0.5, permission_denials: [{ tool_use_id: "t4" }] }, 3407],
      ),
    )
    expect(scenario.turns).toEqual([
      {
        costUsd: 0.5,
        steps: [
          { error: 529 },
          { rateLimit: "allowed_warning", utilization: 0.9 },
          {
            reply: [
              { pause: 494 },
              { think: "hm" },
              { say: "I look." },
              { tool: "Bash", input: { command: "ls" }, result: "a b", durationMs: 400 },
            ],
          },
          { tool: "Task", input: { prompt: "p" }, agent: [{ say: "Inside." }] },
          { tool: "Bash", input: { command: "rm" } },
          { say: "Done." },
        ],
      },
    ])
  })
})
