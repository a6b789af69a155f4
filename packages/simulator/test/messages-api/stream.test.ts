import { describe, expect, test } from "vitest"
import { openApi, post, stream, textOf, toolIds, userSays } from "./api-client.ts"

const hello = [userSays("hello")]
const types = (events: readonly { type: string }[]) => events.map((event) => event.type)

describe("a streamed reply", () => {
  test("has every event of the API, in order", async () => {
    const api = await openApi([{ steps: [{ say: "Hello world", deltas: 2 }] }])
    const response = await post(api, { messages: hello })
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
    expect(response.headers.get("request-id")).toMatch(/^req_/)
    await response.text()
    const events = await stream(api, { messages: hello })
    expect(types(events)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ])
    expect(textOf(events)).toBe("Hello world")
    expect(events[0]).toMatchObject({
      message: { type: "message", role: "assistant", model: "claude-test-1", content: [], stop_reason: null },
    })
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "end_turn", stop_sequence: null } })
  })

  test("carries thinking with a signature, text and several tools, each at its index", async () => {
    const api = await openApi([
      {
        steps: [
          {
            reply: [
              { think: "hm", signature: "sig" },
              { say: "Two at once" },
              { tool: "Bash", input: { command: "touch a" }, id: "toolu_a" },
              { tool: "Bash", input: { command: "touch b" }, chunk: 3 },
            ],
          },
        ],
      },
    ])
    const events = await stream(api, { messages: hello })
    const starts = events.filter((event) => event.type === "content_block_start")
    expect(starts.map((event) => event.index)).toEqual([0, 1, 2, 3])
    expect(starts.map((event) => event["content_block"])).toMatchObject([
      { type: "thinking", thinking: "", signature: "" },
      { type: "text", text: "" },
      { type: "tool_use", id: "toolu_a", name: "Bash", input: {} },
      { type: "tool_use", name: "Bash" },
    ])
    expect(toolIds(events)[1]).toMatch(/^toolu_\w+$/)
    const deltasAt = (index: number) =>
      events.filter((event) => event.type === "content_block_delta" && event.index === index)
    expect(deltasAt(0).map((event) => event.delta)).toEqual([
      { type: "thinking_delta", thinking: "hm" },
      { type: "signature_delta", signature: "sig" },
    ])
    const json = deltasAt(3).map((event) => event.delta?.["partial_json"])
    expect(json.length).toBeGreaterThan(2)
    expect(JSON.parse(json.join(""))).toEqual({ command: "touch b" })
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } })
  })

  test("reports the usage and the model of the scenario", async () => {
    const usage = { inputTokens: 1000, outputTokens: 200, cacheReadTokens: 30, cacheWriteTokens: 4 }
    const api = await openApi([{ model: "claude-other", usage, steps: [{ say: "x" }] }])
    const events = await stream(api, { messages: hello })
    const input = { input_tokens: 1000, cache_read_input_tokens: 30, cache_creation_input_tokens: 4 }
    expect(events[0]).toMatchObject({ message: { model: "claude-other", usage: input } })
    expect(events.at(-2)).toMatchObject({ usage: { ...input, output_tokens: 200 } })
  })

  test("ends as the turn says: refusal with its reason, max_tokens, nothing said at all", async () => {
    const api = await openApi([
      { on: "a", steps: [], stop: { reason: "refusal", category: "cyber", explanation: "no" } },
      { on: "b", steps: [{ say: "half" }], stop: "max_tokens" },
    ])
    const refused = await stream(api, { messages: [userSays("a")] })
    expect(types(refused)).toEqual(["message_start", "ping", "message_delta", "message_stop"])
    expect(refused[2]).toMatchObject({
      delta: { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation: "no" } },
    })
    const cutOff = await stream(api, { messages: [userSays("b")] })
    expect(cutOff.at(-2)).toMatchObject({ delta: { stop_reason: "max_tokens" } })
  })

  test("fails in the middle with an error event and no end", async () => {
    const api = await openApi([{ steps: [{ say: "par" }, { streamError: "overloaded_error", message: "busy" }] }])
    const events = await stream(api, { messages: hello })
    expect(textOf(events)).toBe("par")
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "overloaded_error", message: "busy" } })
    expect(types(events)).not.toContain("message_stop")
  })

  test("leaves a block without its end where it is unfinished, until the next begins", async () => {
    const api = await openApi([
      { on: "a", steps: [{ say: "par", unfinished: true }, { streamError: "api_error" }] },
      { on: "b", steps: [{ say: "one", unfinished: true }, { pause: 1 }, { say: "two" }] },
    ])
    expect(types(await stream(api, { messages: [userSays("a")] }))).not.toContain("content_block_stop")
    const blocks = (await stream(api, { messages: [userSays("b")] })).filter((event) => event.index !== undefined)
    expect(blocks.map((event) => `${event.type} ${event.index}`)).toEqual([
      "content_block_start 0",
      "content_block_delta 0",
      "content_block_stop 0",
      "content_block_start 1",
      "content_block_delta 1",
      "content_block_stop 1",
    ])
  })

  test("is cut off in the middle", async () => {
    const api = await openApi([{ steps: [{ say: "par" }, { cut: true }] }])
    const response = await post(api, { messages: hello })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    expect(Buffer.from(first?.value ?? []).toString()).toContain("par")
    await expect(reader?.read()).rejects.toThrow("terminated")
  })

  test("pauses between its deltas", async () => {
    const api = await openApi([{ steps: [{ pause: 20 }, { say: "abcd", deltas: 4, pauseMs: 20 }] }])
    const started = performance.now()
    expect(textOf(await stream(api, { messages: hello }))).toBe("abcd")
    expect(performance.now() - started).toBeGreaterThan(90)
  })

  test("can be very long, and is made only as fast as the client reads", async () => {
    const bytes = 200_000_000
    const api = await openApi([{ steps: [{ say: { repeat: "text ", bytes }, chunk: 10_000 }] }])
    const response = await post(api, { messages: hello })
    const reader = response.body?.getReader()
    await reader?.read()
    const before = process.memoryUsage().rss
    let read = 0
    for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read())
      read += chunk.value.length
    expect(read).toBeGreaterThan(bytes)
    expect(process.memoryUsage().rss - before).toBeLessThan(bytes)
  })

  test("stops being made when the client goes away", async () => {
    const api = await openApi([
      { steps: [{ say: { repeat: "text ", bytes: 200_000_000 } }] },
      { steps: [{ say: "next" }] },
    ])
    const gone = new AbortController()
    const response = await post(api, { messages: hello, signal: gone.signal })
    await response.body?.getReader().read()
    gone.abort()
    const next = [userSays("hello"), userSays("[Request interrupted by user]"), userSays("another thing")]
    expect(textOf(await stream(api, { messages: next }))).toBe("next")
    expect(api.errors).toEqual([])
  })
})

describe("a reply that hangs", () => {
  test("goes on when it is released", async () => {
    const api = await openApi([{ steps: [{ say: "before " }, { hang: "gate" }, { say: "after" }] }])
    const reply = stream(api, { messages: hello })
    await api.untilHanging("gate")
    expect(api.release("another")).toBe(0)
    expect(api.release("gate")).toBe(1)
    expect(textOf(await reply)).toBe("before after")
  })

  test("has not begun to answer when it hangs first", async () => {
    const api = await openApi([{ steps: [{ hang: true }, { say: "late" }] }])
    let answered = false
    const response = post(api, { messages: hello }).then((reply) => {
      answered = true
      return reply
    })
    await api.untilHanging()
    expect(answered).toBe(false)
    api.release()
    expect((await response).status).toBe(200)
  })

  test("ends with the API, as does everyone who waits", async () => {
    const api = await openApi([{ steps: [{ say: "x" }, { hang: true }] }])
    const reply = stream(api, { messages: hello })
    await api.untilHanging()
    await Promise.all([
      expect(reply).rejects.toThrow(/terminated|fetch failed/),
      expect(api.untilHanging("never")).rejects.toMatchObject({ code: "messages-api/closed" }),
      expect(api.untilRequest(() => false)).rejects.toMatchObject({ code: "messages-api/closed" }),
      api.close(),
      api.close(),
    ])
  })
})

describe("a reply that is not streamed", () => {
  test("is the whole message", async () => {
    const api = await openApi([
      { steps: [{ reply: [{ think: "hm" }, { say: "Hello" }, { tool: "Bash", input: { command: "ls" }, id: "t1" }] }] },
    ])
    const response = await post(api, { messages: hello, stream: false })
    expect(await response.json()).toMatchObject({
      type: "message",
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: expect.stringMatching(/.+/) },
        { type: "text", text: "Hello" },
        { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } },
      ],
      stop_reason: "tool_use",
      usage: { output_tokens: expect.any(Number) },
    })
  })

  test("turns an error inside the stream into an HTTP error, and can be cut off", async () => {
    const api = await openApi([{ steps: [{ say: "x" }, { streamError: "overloaded_error" }, { cut: true }] }])
    expect((await post(api, { messages: hello, stream: false })).status).toBe(529)
    await expect(post(api, { messages: hello, stream: false })).rejects.toThrow("fetch failed")
  })
})
