import { describe, expect, test } from "vitest"
import type { Scenario } from "../../src/index.ts"
import { type Ask, modelSaid, openApi, post, said, stream, textOf, toolResult, userSays } from "./api-client.ts"

const turns: Scenario["turns"] = [{ steps: [{ say: "one" }] }, { steps: [{ say: "two" }] }]
const hello = [userSays("hello")]

describe("a side call", () => {
  const calls: [string, string, Partial<Ask>, string | RegExp][] = [
    ["a check of a model", "check", { max_tokens: 1 }, "OK"],
    [
      "a question about a Bash command",
      "bashPrefix",
      { tools: [], system: "Your task is to process Bash commands that an AI coding agent wants to run." },
      "none",
    ],
    ["a call to a small model without tools", "other", { tools: [], model: "claude-haiku-4-5" }, "OK"],
    [
      "a web search",
      "webSearch",
      { tools: [{ type: "web_search_20250305", name: "web_search" }] },
      /^Nothing was searched/,
    ],
    ["a compaction", "compact", { system: "You are an assistant tasked with summarizing conversations." }, /<summary>/],
    [
      "a compaction asked for as the user",
      "compact",
      {
        messages: [
          ...hello,
          userSays("CRITICAL: text only.\nYour task is to create a detailed summary of the conversation"),
        ],
      },
      /<summary>/,
    ],
    [
      "a title in JSON",
      "title",
      {
        tools: [],
        system: [{ type: "text", text: "You are naming a coding session so the user can pick it out" }],
        output_config: { format: { type: "json_schema", schema: { properties: { title: { type: "string" } } } } },
      },
      '{"title":"Scripted session"}',
    ],
  ]

  test.each(calls)("(%s) is answered without using up the script", async (_, side, ask, expected) => {
    const api = await openApi(turns)
    expect(await said(api, hello)).toBe("one")
    expect(textOf(await stream(api, { messages: hello, ...ask }))).toMatch(expected)
    expect(api.requests.at(-1)).toMatchObject({ kind: "side", side })
    expect(await said(api, [...hello, modelSaid({ type: "text", text: "one" }), userSays("next")])).toBe("two")
    expect(api.errors).toEqual([])
  })

  test("is answered as the scenario says", async () => {
    const api = await openApi(turns, {}, { other: "nothing", bashPrefix: "git status" })
    const bash = { tools: [], system: "Your task is to process Bash commands that an AI coding agent wants to run." }
    expect(await said(api, hello, bash)).toBe("git status")
    expect(await said(api, hello, { max_tokens: 1 })).toBe("nothing")
  })

  test("is any call without tools, once the session has shown some; before that it is the conversation", async () => {
    const api = await openApi(turns)
    const toolless = { tools: [], headers: { "x-claude-code-session-id": "no-tools" } }
    expect(await said(api, hello, toolless)).toBe("one")
    expect(await said(api, hello)).toBe("one")
    expect(await said(api, hello, { tools: [] })).toBe("OK")
  })
})

describe("a sub-agent", () => {
  const withAgent: Scenario["turns"] = [
    { steps: [{ tool: "Task", input: { prompt: "look around" }, id: "t1" }, { say: "thanks" }] },
  ]

  test("has its own conversation, known by its prompt or by the header of newer CLIs", async () => {
    const api = await openApi(withAgent)
    await stream(api, { messages: [userSays("go")] })
    expect(await said(api, [userSays("look around")])).toBe("Done.")
    const marked = { headers: { "x-claude-code-agent-id": "a1" } }
    expect(await said(api, [userSays("something")], marked)).toBe("Done.")
    expect(api.requests.map((request) => request.side)).toEqual([undefined, "agent", "agent"])
    const call = modelSaid({ type: "tool_use", id: "t1", name: "Task", input: {} })
    expect(await said(api, [userSays("go"), call, toolResult("t1")])).toBe("thanks")
  })
})

describe("beside messages", () => {
  test("tokens are counted", async () => {
    const api = await openApi(turns)
    const response = await post(api, { messages: hello }, "/v1/messages/count_tokens")
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) })
    expect(api.requests).toMatchObject([{ kind: "count" }])
  })

  test("the greeting is answered, and anything else is not found and reported", async () => {
    const api = await openApi(turns)
    for (const method of ["HEAD", "GET"]) expect((await fetch(`${api.url}/api/hello`, { method })).status).toBe(200)
    expect(api.errors).toEqual([])
    expect((await fetch(`${api.url}/v1/models`)).status).toBe(404)
    expect((await fetch(`${api.url}/v1/messages`)).status).toBe(404)
    expect(api.errors).toMatchObject([
      { kind: "unexpected-path", method: "GET", path: "/v1/models" },
      { kind: "unexpected-path", path: "/v1/messages" },
    ])
  })

  test("a body that is not a request, or too long, is refused and reported", async () => {
    const api = await openApi(turns, { maxBodyBytes: 1000 })
    const bad = await fetch(`${api.url}/v1/messages`, { method: "POST", body: "{" })
    expect(bad.status).toBe(400)
    const long = await post(api, { messages: [userSays("x".repeat(2_000_000))] })
    expect(long.status).toBe(413)
    expect(await long.json()).toMatchObject({ error: { type: "request_too_large" } })
    expect(api.errors.map((error) => error.kind)).toEqual(["bad-request", "body-too-large"])
  })
})

describe("the recording", () => {
  test("has what a test asks about, and no secret", async () => {
    const api = await openApi(turns)
    const seen = api.untilRequest((request) => request.kind === "conversation")
    await said(api, hello, { system: "Be brief.", headers: { authorization: "Bearer real", "x-extra": "seen" } })
    expect(await seen).toMatchObject({
      method: "POST",
      path: "/v1/messages?beta=true",
      model: "claude-test-1",
      system: "Be brief.",
      tools: ["Bash"],
      messages: hello,
      stream: true,
      maxTokens: 1000,
      headers: { authorization: "<redacted>", "x-api-key": "<redacted>", "x-extra": "seen" },
    })
  })

  test("forgets the oldest", async () => {
    const api = await openApi([{ repeat: true, steps: [{ say: "x" }] }], { maxRecordedRequests: 2 })
    for (const text of ["a", "b", "c"]) await said(api, [userSays(text)])
    expect(api.requests.map((request) => request.messages)).toEqual([[userSays("b")], [userSays("c")]])
  })
})
