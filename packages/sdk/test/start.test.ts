import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { repetitions } from "../../../test/gate.ts"
import { type Options, query, startup } from "../src/index.ts"
import { type FakeAgent, fakeAgent, hear, identity, result, state } from "./fake-agent.ts"

const SIMULATOR = fileURLToPath(new URL("../../simulator/bin/claude-sim.mjs", import.meta.url))

const turn = [{ until: "user" }, { say: result() }]

describe("starting", () => {
  it("[Q1] the agent is started at once, told who we are first, then asked, without waiting for its answer", async () => {
    const agent = fakeAgent(turn, {}, { mute: ["initialize"] })
    const running = query({ prompt: "hello", options: agent.options })
    await agent.untilLogged(({ line }) => line?.type === "user")
    const types = agent.log().flatMap(({ line }) => (line ? [line.type] : []))
    expect(types).toEqual(["control_request", "user"])
    expect((await hear(running)).kinds).toEqual(["result/success"])
  })

  it("[Q1] whoever starts the process for us is called before query() returns", async () => {
    const agent = fakeAgent(turn)
    let isCalled = false
    const spawnClaudeCodeProcess: Options["spawnClaudeCodeProcess"] = ({ command, args, env }) => {
      isCalled = true
      return spawn(command, args, { env, stdio: "pipe" })
    }
    const running = query({ prompt: "hello", options: { ...agent.options, spawnClaudeCodeProcess } })
    expect(isCalled).toBe(true)
    expect((await hear(running)).kinds).toEqual(["result/success"])
  })

  const order = (agent: FakeAgent) =>
    agent.log().flatMap(({ line }) => (line === undefined ? [] : [line.request?.["subtype"] ?? line.type]))

  it("[Q9] what the program sets before it reads is set before the first message, though it asks step by step", async () => {
    const agent = fakeAgent(turn)
    const running = query({ prompt: "hello", options: agent.options })
    await running.initializationResult()
    await running.setModel("m")
    await running.setPermissionMode("plan")
    expect((await hear(running)).kinds).toEqual(["result/success"])
    expect(order(agent)).toEqual(["initialize", "set_model", "set_permission_mode", "user"])
  })

  it("[Q9] so is what it asks in the same breath, also on a warm agent; other requests hold nothing up", async () => {
    const agent = fakeAgent(turn, {}, { mute: ["get_settings"] })
    const running = query({ prompt: "hello", options: agent.options })
    const unanswered = running.control({ subtype: "get_settings" })
    void running.setPermissionMode("plan")
    expect((await running.next()).value).toMatchObject({ type: "result" })
    running.close()
    await expect(unanswered).rejects.toMatchObject({ code: "query/closed" })
    expect(order(agent)).toEqual(["initialize", "get_settings", "set_permission_mode", "user"])
    const warm = fakeAgent(turn)
    const later = (await startup({ options: warm.options })).query("hello")
    void later.setPermissionMode("plan")
    await hear(later)
    expect(order(warm)).toEqual(["initialize", "set_permission_mode", "user"])
  })

  it("[Q9] an agent that does not answer gets its first message all the same", async () => {
    const agent = fakeAgent(turn, {}, { mute: ["set_model"] })
    const running = query({ prompt: "hello", options: agent.options })
    const call = running.setModel("m")
    expect((await running.next()).value).toMatchObject({ type: "result" })
    running.close()
    await expect(call).rejects.toMatchObject({ code: "query/closed" })
  })

  it(`[Q9] a simulated agent is in the mode of its first message, ${repetitions} times out of ${repetitions}`, async () => {
    const modes: unknown[] = []
    for (let n = 0; n < repetitions; n++) {
      const cwd = mkdtempSync(join(tmpdir(), "signalbox-modes-"))
      const env = { PATH: process.env["PATH"], HOME: cwd }
      const running = query({ prompt: "hello", options: { pathToClaudeCodeExecutable: SIMULATOR, cwd, env } })
      await running.initializationResult()
      await running.setPermissionMode("plan")
      for await (const said of running) {
        if (said.type === "system" && said.subtype === "init") modes.push(said.permissionMode)
      }
      rmSync(cwd, { recursive: true, force: true })
    }
    expect(modes).toEqual(Array.from({ length: repetitions }, () => "plan"))
  })

  it("[Q2] a text becomes one text block", async () => {
    const agent = fakeAgent(turn)
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.sent("user")).toEqual([
      {
        type: "user",
        message: { role: "user", content: [{ type: "text", text: "hello" }] },
        parent_tool_use_id: null,
        session_id: "",
      },
    ])
  })

  it("[Q2] the messages of an iterable are written as they are", async () => {
    const message = { type: "user", message: { role: "user", content: "as it is" }, parent_tool_use_id: null } as const
    async function* prompt() {
      yield { ...message, uuid: "0-0-0-0-1" as const }
    }
    const agent = fakeAgent(turn)
    await hear(query({ prompt: prompt(), options: agent.options }))
    expect(agent.sent("user")).toEqual([{ ...message, uuid: "0-0-0-0-1" }])
  })

  it("[Q2] verbatim prompts say so", async () => {
    const agent = fakeAgent(turn, { verbatimPrompts: true })
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.sent("user")[0]).toMatchObject({ client_composed: true })
  })

  it("[Q30] every message is yielded as it came, unknown ones too; what is meant for the host is not", async () => {
    const said = [
      { type: "of_tomorrow", x: 1 },
      { type: "system", subtype: "of_tomorrow", ...identity },
      { type: "keep_alive" },
      { type: "transcript_mirror", entries: [] },
      "not JSON at all",
      "null",
      { type: "system", subtype: "session_state_changed", state: "running", sdk_host_only: true, ...identity },
      { type: "control_response" },
      { type: "control_response", response: { subtype: "success", request_id: "of somebody else" } },
      { type: "control_request" },
      { type: "control_cancel_request", request_id: "never asked" },
      { type: "of_tomorrow", ...identity },
      { type: "of_tomorrow", ...identity },
    ]
    const agent = fakeAgent([
      { until: "user" },
      ...said.map((say) => ({ say })),
      { say: result() },
      { say: state("idle") },
    ])
    const { messages, error } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(error).toBeUndefined()
    expect(messages).toEqual([
      { type: "of_tomorrow", x: 1 },
      { type: "system", subtype: "of_tomorrow", ...identity },
      { type: "of_tomorrow", ...identity },
      { type: "of_tomorrow", ...identity },
      result(),
    ])
  })
})
