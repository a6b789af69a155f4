import { spawn } from "node:child_process"
import { describe, expect, it } from "vitest"
import { type Options, query } from "../src/index.ts"
import { fakeAgent, hear, identity, result, state } from "./fake-agent.ts"

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
