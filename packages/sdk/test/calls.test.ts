import { describe, expect, it } from "vitest"
import { query } from "../src/index.ts"
import { ask, canUseBash, fakeAgent, hear, result, system } from "./fake-agent.ts"

const delta = { type: "stream_event", event: { type: "ping" }, filler: "x".repeat(1000) }

describe("calls", () => {
  it("[Q33] each method is one request; what it resolves with is the agent's word", async () => {
    const agent = fakeAgent(
      [{ until: "user" }, { until: "control_request/stop_task" }, { say: result() }],
      {},
      {
        replies: {
          mcp_status: { mcpServers: [{ name: "n", status: "connected" }] },
          interrupt: { still_queued: ["u"] },
        },
        refuse: { read_file: "no such file", rewind_files: "no checkpoints" },
      },
    )
    const running = query({ prompt: "hello", options: agent.options })
    const heard = hear(running)
    expect(await running.mcpServerStatus()).toEqual([{ name: "n", status: "connected" }])
    expect(await running.interrupt({ cancelQueued: true })).toEqual({ still_queued: ["u"] })
    expect(await running.setModel()).toBeUndefined()
    expect(await running.readFile("/x")).toBeNull()
    expect(await running.backgroundTasks()).toBe(true)
    await expect(running.rewindFiles("u-1", { dryRun: true })).rejects.toMatchObject({
      code: "request/refused",
      message: "no checkpoints",
    })
    expect(await running.control({ subtype: "of_tomorrow", a: 1 })).toEqual({})
    await running.stopTask("t-1")
    await heard
    expect(agent.sent("control_request").map(({ request }) => request)).toEqual([
      expect.objectContaining({ subtype: "initialize" }),
      { subtype: "mcp_status" },
      { subtype: "interrupt", cancel_queued: true },
      { subtype: "set_model" },
      { subtype: "read_file", path: "/x" },
      { subtype: "background_tasks" },
      { subtype: "rewind_files", user_message_id: "u-1", dry_run: true },
      { subtype: "of_tomorrow", a: 1 },
      { subtype: "stop_task", task_id: "t-1" },
    ])
  })

  it("[Q33] a call that is never answered is refused when the agent is gone, and holds nothing up for ever", async () => {
    const agent = fakeAgent(
      [{ until: "user" }, { until: "control_request/set_model" }, { exit: 0 }],
      {},
      { mute: ["set_model"] },
    )
    const running = query({ prompt: "hello", options: agent.options })
    const call = running.setModel("m")
    await hear(running)
    await expect(call).rejects.toMatchObject({ code: "query/closed" })
  })

  it("[Q33] a call nobody waits for ends no program", async () => {
    const agent = fakeAgent([{ until: "control_request/set_model" }, { exit: 0 }], {}, { mute: ["set_model"] })
    const running = query({ prompt: "hello", options: agent.options })
    void running.setModel("m")
    void running.initializationResult()
    expect((await hear(running)).error).toBeUndefined()
  })
})

describe("backpressure", () => {
  it("[Q31] an agent is not read on while the program reads, and is behind", async () => {
    const agent = fakeAgent([
      { until: "user" },
      { say: system("init") },
      { flood: 20_000, message: delta },
      { say: result() },
    ])
    const running = query({ prompt: "hello", options: agent.options })
    // The agent has been asked to say far more than may wait here; it is stuck in the middle of it until all is read.
    for (let slowly = 0; slowly < 50; slowly++) {
      await running.next()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(agent.log().some(({ flooded }) => flooded !== undefined)).toBe(false)
    const { messages } = await hear(running)
    expect(messages).toHaveLength(20_002 - 50)
    expect(messages.at(-2)).toMatchObject({ n: 19_999 })
  })

  it("[Q34] a program that waits for a question gets it, though it stands behind what it has not read", async () => {
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const agent = fakeAgent(
      [
        { until: "user" },
        { say: system("init") },
        { flood: 20_000, message: delta },
        { say: ask("q-1", canUseBash) },
        { until: "control_response" },
        { say: result() },
      ],
      {
        canUseTool: async () => {
          isAsked()
          return { behavior: "deny", message: "no" }
        },
      },
    )
    const running = query({ prompt: "hello", options: agent.options })
    let count = 0
    for await (const said of running) {
      count++
      if (said.type === "system") await asked
    }
    expect(count).toBe(20_002)
  })

  it("[Q32] a call in the midst of it gets its answer, which is further on", async () => {
    const agent = fakeAgent([
      { until: "user" },
      { say: system("init") },
      { flood: 20_000, message: delta },
      { say: result() },
    ])
    const running = query({ prompt: "hello", options: agent.options })
    let count = 0
    for await (const said of running) {
      count++
      if (said.type === "system") await running.setModel("m")
    }
    expect(count).toBe(20_002)
  })
})
