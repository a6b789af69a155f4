import { describe, expect, test } from "vitest"
import { modelSaid, openApi, post, said, stream, toolIds, toolResult, userSays } from "./api-client.ts"

const answered = modelSaid({ type: "text", text: "…" })

describe("turns", () => {
  test("come in order, each user message the next", async () => {
    const api = await openApi([{ steps: [{ say: "one" }] }, { steps: [{ say: "two" }] }])
    expect(await said(api, [userSays("same")])).toBe("one")
    expect(await said(api, [userSays("same"), answered, userSays("same")])).toBe("two")
    expect(api.requests.map((request) => request.position)).toEqual([
      { turn: 0, call: 0 },
      { turn: 1, call: 0 },
    ])
  })

  test("that wait for words come when they are said, before the others", async () => {
    const api = await openApi([{ steps: [{ say: "first" }] }, { on: "deploy", steps: [{ say: "deploying" }] }])
    expect(await said(api, [userSays("please deploy it")])).toBe("deploying")
    expect(await said(api, [userSays("please deploy it"), answered, userSays("thanks")])).toBe("first")
  })

  test("come once unless they repeat", async () => {
    const api = await openApi([{ steps: [{ say: "once" }] }, { repeat: true, steps: [{ say: "always" }] }])
    const history: unknown[] = []
    for (const expected of ["once", "always", "always"]) {
      history.push(userSays("go"))
      expect(await said(api, history)).toBe(expected)
      history.push(answered)
    }
  })

  test("that the script does not have are answered plainly and reported", async () => {
    const api = await openApi([{ on: "expected", steps: [{ say: "yes" }] }])
    expect(await said(api, [userSays("something else")])).toMatch(/^The script has no turn for this/)
    expect(api.errors).toMatchObject([{ kind: "script-ended", message: expect.stringContaining("something else") }])
    expect(api.requests[0]?.kind).toBe("ended")
  })

  test("look past history, reminders and notes in the role of the system", async () => {
    const api = await openApi([
      { on: "old words", steps: [{ say: "wrong" }] },
      { on: "new words", steps: [{ say: "right" }] },
    ])
    const reminder = { type: "text", text: "<system-reminder>\nold words\n</system-reminder>" }
    const messages = [
      userSays("old words"),
      answered,
      { role: "user", content: [reminder, { type: "text", text: "new words" }] },
      { role: "system", content: [{ type: "text", text: "old words" }] },
    ]
    expect(await said(api, messages)).toBe("right")
  })

  test("are kept apart by session", async () => {
    const api = await openApi([{ steps: [{ say: "one" }] }, { steps: [{ say: "two" }] }])
    const old = { metadata: { user_id: "user_ab_account__session_11111111-1111-4111-8111-111111111111" } }
    const newer = { metadata: { user_id: JSON.stringify({ session_id: "second" }) } }
    const newest = { headers: { "x-claude-code-session-id": "third" } }
    for (const session of [old, newer, newest]) expect(await said(api, [userSays("hi")], session)).toBe("one")
    expect(await said(api, [userSays("hi"), answered, userSays("hi")], newer)).toBe("two")
    expect(api.requests.map((request) => request.sessionId)).toEqual([
      "11111111-1111-4111-8111-111111111111",
      "second",
      "third",
      "second",
    ])
  })
})

describe("within a turn", () => {
  test("each tool result brings the next reply", async () => {
    const api = await openApi([
      {
        steps: [
          { say: "a" },
          { tool: "Bash", input: { command: "1" } },
          { tool: "Bash", input: { command: "2" } },
          { say: "done" },
        ],
      },
      { steps: [{ say: "next turn" }] },
    ])
    const messages: unknown[] = [userSays("go")]
    for (const _ of [1, 2]) {
      const [id = ""] = toolIds(await stream(api, { messages }))
      messages.push(modelSaid({ type: "tool_use", id, name: "Bash", input: {} }), toolResult(id))
    }
    expect(await said(api, messages)).toBe("done")
    expect(await said(api, [...messages, answered, userSays("more")])).toBe("next turn")
  })

  test("an interrupted tool ends it, and what is said then begins another", async () => {
    const api = await openApi([
      { steps: [{ tool: "Bash", input: {}, id: "t1" }, { say: "never" }] },
      { steps: [{ say: "second" }] },
    ])
    await stream(api, { messages: [userSays("go")] })
    const interrupted = { type: "text", text: "[Request interrupted by user for tool use]" }
    const messages = [
      userSays("go"),
      modelSaid({ type: "tool_use", id: "t1", name: "Bash", input: {} }),
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t1" }, interrupted, { type: "text", text: "instead" }],
      },
    ]
    expect(await said(api, messages)).toBe("second")
  })

  test("errors come before the reply, as often as the script says", async () => {
    const api = await openApi([
      {
        steps: [
          { error: 529, times: 2, retryAfter: 1 },
          { error: 429, type: "custom", message: "slow" },
          { say: "at last" },
        ],
      },
    ])
    const messages = [userSays("go")]
    for (const _ of [1, 2]) {
      const failed = await post(api, { messages })
      expect(failed.status).toBe(529)
      expect(failed.headers.get("retry-after")).toBe("1")
      expect(await failed.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } })
    }
    expect(await (await post(api, { messages })).json()).toMatchObject({ error: { type: "custom", message: "slow" } })
    expect(await said(api, messages)).toBe("at last")
  })

  test("what fails last goes on failing", async () => {
    const api = await openApi([{ steps: [{ error: 500 }] }])
    for (const _ of [1, 2, 3]) expect((await post(api, { messages: [userSays("go")] })).status).toBe(500)
    expect(api.errors).toEqual([])
  })

  test("a reply that arrived is given again to the same request", async () => {
    const api = await openApi([{ steps: [{ tool: "Bash", input: {}, id: "t1" }, { say: "after" }] }])
    const messages = [userSays("go")]
    for (const _ of [1, 2]) expect(toolIds(await stream(api, { messages }))).toEqual(["t1"])
  })

  test("a request asked again without a stream, after a broken one, gets the next reply", async () => {
    const api = await openApi([{ steps: [{ say: "par" }, { streamError: "api_error" }, { say: "whole" }] }])
    const messages = [userSays("go")]
    await stream(api, { messages })
    expect(await (await post(api, { messages, stream: false })).json()).toMatchObject({ content: [{ text: "whole" }] })
  })

  test("a CLI that asks to go on where a stream was cut gets the next reply", async () => {
    const api = await openApi([{ steps: [{ say: "half" }, { streamError: "api_error" }, { say: "the rest" }] }])
    await stream(api, { messages: [userSays("go")] })
    const goOn = userSays("Your response above was cut off mid-stream. Resume directly from where it stops.")
    expect(await said(api, [userSays("go"), answered, goOn])).toBe("the rest")
  })

  test("a CLI that asks to go on after the token limit, or after a refusal, gets the next reply", async () => {
    const api = await openApi([
      { on: "long", steps: [{ reply: [{ say: "half" }], stop: "max_tokens" }, { say: "the rest" }] },
      { on: "bad", steps: [], stop: "refusal" },
      { steps: [{ say: "new turn" }] },
    ])
    const goOn = userSays("Output token limit hit. Resume directly — no apology.")
    expect(await said(api, [userSays("long")])).toBe("half")
    expect(await said(api, [userSays("long"), answered, goOn])).toBe("the rest")
    const history = [userSays("long"), answered, goOn, answered]
    const refusal = userSays("Your response above was stopped by a safety classifier — do not produce it again.")
    for (const tail of [[userSays("bad")], [userSays("bad\n"), refusal]]) {
      const events = await stream(api, { messages: [...history, ...tail] })
      expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "refusal" } })
    }
    expect(await said(api, [...history, userSays("bad"), refusal, userSays("good")])).toBe("new turn")
  })
})
