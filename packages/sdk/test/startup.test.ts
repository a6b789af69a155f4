import { describe, expect, it } from "vitest"
import { startup, unstable_v2_createSession, unstable_v2_prompt, unstable_v2_resumeSession } from "../src/index.ts"
import { FAKE_CLI, fakeAgent, hear, result } from "./fake-agent.ts"

describe("a warm start", () => {
  it("[Q50] the agent is ready before its prompt, and answers it", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: result() }])
    const warm = await startup({ options: agent.options })
    expect(agent.log()[0]?.env).toMatchObject({ CLAUDE_CODE_SDK_READS_STARTUP_MARKS: "1" })
    expect(agent.log().some(({ end }) => end === true)).toBe(false)
    expect((await hear(warm.query("hello"))).kinds).toEqual(["result/success"])
    expect(() => warm.query("again")).toThrow("WarmQuery.query() can only be called once")
  })

  it("[Q50] one that is not used is closed with its agent", async () => {
    const agent = fakeAgent([])
    const warm = await startup({ options: agent.options })
    await warm[Symbol.asyncDispose]()
    expect(agent.log().some(({ end }) => end === true)).toBe(true)
    expect(() => warm.query("late")).toThrow(expect.objectContaining({ code: "sdk/used" }))
  })

  it("[Q50] an agent that does not get ready, or ends, is told apart", async () => {
    const silent = fakeAgent([], {}, { mute: ["initialize"] })
    await expect(startup({ options: silent.options, initializeTimeoutMs: 50 })).rejects.toMatchObject({
      code: "startup/timeout",
    })
    const broken = fakeAgent([{ exit: 2 }], {}, { mute: ["initialize"] })
    await expect(startup({ options: broken.options })).rejects.toMatchObject({ code: "process/exit" })
  })
})

describe("the sessions of the 0.2 series", () => {
  const sessionOptions = (agent: ReturnType<typeof fakeAgent>) => ({
    model: "m",
    pathToClaudeCodeExecutable: FAKE_CLI,
    env: agent.options.env,
  })

  it("[Q51] send and stream, turn by turn; the id is known from the first message on", async () => {
    const agent = fakeAgent([
      { until: "user" },
      { say: result({ result: "one" }) },
      { until: "user" },
      { say: result({ result: "two" }) },
    ])
    const session = unstable_v2_createSession(sessionOptions(agent))
    expect(() => session.sessionId).toThrow("not available")
    const heard: unknown[] = []
    for (const text of ["first", "second"]) {
      await session.send(text)
      for await (const said of session.stream()) if ("result" in said) heard.push(said.result)
    }
    expect(heard).toEqual(["one", "two"])
    expect(session.sessionId).toBe("s-1")
    await session[Symbol.asyncDispose]()
    await expect(session.send("late")).rejects.toMatchObject({ code: "query/closed" })
    expect(agent.log()[0]?.argv).toContain("--setting-sources=")
  })

  it("[Q51] an executable that was named and is not there is told of at once", async () => {
    const options = { model: "m", pathToClaudeCodeExecutable: "/nowhere/claude" }
    const missing: unknown = expect.objectContaining({ code: "process/not-found", name: "ReferenceError" })
    expect(() => unstable_v2_createSession(options)).toThrow(missing)
    expect(() => unstable_v2_resumeSession("s-9", options)).toThrow(missing)
    await expect(unstable_v2_prompt("hello", options)).rejects.toEqual(missing)
  })

  it("[Q51] one question, one result; a resumed session knows its id", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: result({ result: "one" }) }])
    expect(await unstable_v2_prompt("hello", sessionOptions(agent))).toMatchObject({ result: "one" })
    const resumed = unstable_v2_resumeSession("s-9", sessionOptions(fakeAgent([])))
    expect(resumed.sessionId).toBe("s-9")
    await resumed[Symbol.asyncDispose]()
  })
})
