import { describe, expect, it, onTestFinished, vi } from "vitest"
import { ControlCalls } from "../src/engine/control-calls.ts"
import { query } from "../src/index.ts"
import { fakeAgent, hear, result, type Step, system } from "./fake-agent.ts"

const init = system("init", { claude_code_version: "2.1.37" })
const waiting: Step[] = [{ until: "user" }, { say: init }]
const unknown = { mute: ["of_tomorrow", "read_file", "set_model"] }

describe("the time that a request has", () => {
  it("[Q36] a request that the agent says nothing to fails, and the error names it, the limit and the version", async () => {
    const agent = fakeAgent(waiting, { controlTimeoutMs: 200 }, unknown)
    const running = query({ prompt: "hello", options: agent.options })
    await running.next()
    const message: unknown = expect.stringMatching(
      /^Claude Code 2\.1\.37 did not answer the request of_tomorrow within 200 ms/,
    )
    const details = { subtype: "of_tomorrow", timeoutMs: 200, version: "2.1.37" }
    await expect(running.control({ subtype: "of_tomorrow" })).rejects.toMatchObject({
      code: "request/timeout",
      message,
      details,
    })
    await expect(running.setModel("m")).rejects.toMatchObject({ code: "request/timeout" })
    await expect(running.readFile("/x")).rejects.toMatchObject({ code: "request/timeout" })
    expect(await running.control({ subtype: "known" })).toEqual({})
    await running.return()
  })

  it("[Q36] a late answer is nobody's, and the query goes on", async () => {
    const late = { type: "control_response", response: { subtype: "success", request_id: "none", response: {} } }
    const agent = fakeAgent(
      [...waiting, { until: "control_request/known" }, { say: late }, { say: result() }],
      { controlTimeoutMs: 100 },
      unknown,
    )
    const running = query({ prompt: "hello", options: agent.options })
    await running.next()
    await expect(running.control({ subtype: "of_tomorrow" })).rejects.toMatchObject({ code: "request/timeout" })
    await running.control({ subtype: "known" })
    expect(await hear(running)).toMatchObject({ kinds: ["result/success"] })
  })

  it("[Q36] 0 is no limit, and the end of the query settles the call", async () => {
    const agent = fakeAgent(
      [...waiting, { until: "control_request/of_tomorrow" }, { pause: 300 }, { exit: 0 }],
      { controlTimeoutMs: 0 },
      unknown,
    )
    const running = query({ prompt: "hello", options: agent.options })
    const call = running.control({ subtype: "of_tomorrow" })
    await hear(running)
    await expect(call).rejects.toMatchObject({ code: "query/closed" })
  })

  it("[Q36] it begins anew with every sign that the request is dealt with, and with the agent's first word", async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const ids: unknown[] = []
    const send = async (message: object, onWriting: () => void) => {
      ids.push(Reflect.get(message, "request_id"))
      onWriting()
    }
    const calls = new ControlCalls({ send, onChange: () => undefined, controlTimeoutMs: 1000 })
    let failure: unknown
    calls.exchange({ subtype: "of_tomorrow" }).catch((error: unknown) => (failure = error))
    await vi.advanceTimersByTimeAsync(60_000)
    calls.heard()
    await vi.advanceTimersByTimeAsync(900)
    const progress = { type: "system", subtype: "control_request_progress", request_id: ids[0] }
    calls.note({ ...progress, status: "started" })
    await vi.advanceTimersByTimeAsync(900)
    calls.note({ ...progress, status: "api_retry", retry_delay_ms: 5000 })
    await vi.advanceTimersByTimeAsync(5900)
    expect(failure).toBeUndefined()
    await vi.advanceTimersByTimeAsync(200)
    expect(failure).toMatchObject({ code: "request/timeout", details: { subtype: "of_tomorrow", timeoutMs: 1000 } })
    expect(vi.getTimerCount()).toBe(0)
  })

  it("[Q36] what goes on to a model has ten times as long", async () => {
    const agent = fakeAgent(
      [...waiting, { until: "control_request/side_question" }],
      { controlTimeoutMs: 100 },
      { mute: ["side_question"] },
    )
    const running = query({ prompt: "hello", options: agent.options })
    await running.next()
    const details = { subtype: "side_question", timeoutMs: 1000 }
    await expect(running.control({ subtype: "side_question" })).rejects.toMatchObject({
      code: "request/timeout",
      details,
    })
    await running.return()
  })

  it("[Q36] an agent that takes its time to start is waited for, and so is the answer to initialize", async () => {
    const agent = fakeAgent([], { controlTimeoutMs: 50 }, { mute: ["initialize"] })
    const running = query({ prompt: "hello", options: agent.options })
    const initialized = running.initializationResult()
    await expect(running.control({ subtype: "known" })).resolves.toEqual({})
    running.close()
    await expect(initialized).rejects.toMatchObject({ code: "query/closed" })
  })

  it("[Q6] a limit that is none is refused by name", () => {
    const start = () => query({ prompt: "hello", options: { controlTimeoutMs: Number.NaN } })
    expect(start).toThrow(expect.objectContaining({ code: "sdk/bad-option", details: { option: "controlTimeoutMs" } }))
  })
})
