import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { describe, expect, it } from "vitest"
import { AbortError, type Query, query, type SDKUserMessage, SdkError } from "../src/index.ts"
import { ask, canUseBash, fakeAgent, hear, isAlive, result, system } from "./fake-agent.ts"

const quiet = [{ until: "user" }, { say: system("init") }]

async function gone(pid = 0): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function firstOf(running: Query): Promise<void> {
  expect((await running.next()).value).toMatchObject({ type: "system" })
}

describe("how a query fails", () => {
  it("[Q40] no executable where one was named: thrown by the first read, with where it looked", async () => {
    const running = query({ prompt: "hello", options: { pathToClaudeCodeExecutable: "/nowhere/claude" } })
    const commands = running.supportedCommands()
    const { error } = await hear(running)
    expect(error).toBeInstanceOf(SdkError)
    expect(error).toMatchObject({
      code: "process/not-found",
      name: "ReferenceError",
      details: { looked: ["/nowhere/claude"] },
    })
    await expect(commands).rejects.toBe(error)
    expect(await running.next()).toEqual({ value: undefined, done: true })
  })

  it("[Q40] none anywhere: thrown at once", () => {
    const start = () => query({ prompt: "hello", options: { env: { PATH: "", HOME: "/nowhere" } } })
    expect(start).toThrow(expect.objectContaining({ code: "process/not-found" }))
  })

  it("[Q40] a folder that is not there", async () => {
    const agent = fakeAgent([], { cwd: "/nowhere" })
    const { error } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(error).toMatchObject({
      code: "process/spawn-failed",
      message: expect.stringContaining("/nowhere does not exist"),
    })
  })

  it("[Q41] an exit code, with the end of what it said on standard error", async () => {
    const agent = fakeAgent(
      [{ until: "user" }, { stderr: "out of signals\n" }, { pause: 20 }, { exit: 3 }],
      {},
      { mute: ["set_model"] },
    )
    const running = query({ prompt: "hello", options: agent.options })
    const call = running.setModel("m")
    const { error } = await hear(running)
    const message = "Claude Code process exited with code 3. stderr: out of signals"
    expect(error).toMatchObject({ code: "process/exit", message, details: { exitCode: 3 } })
    await expect(call).rejects.toBe(error)
  })

  it("[Q33] calls that come after the failure are told that it is over", async () => {
    const agent = fakeAgent([{ until: "user" }, { exit: 3 }])
    const running = query({ prompt: "hello", options: agent.options })
    expect((await hear(running)).error).toMatchObject({ code: "process/exit" })
    await expect(running.setModel("m")).rejects.toMatchObject({ code: "query/closed" })
    await expect(running.setMcpServers({})).rejects.toMatchObject({ code: "query/closed" })
  })

  it("[Q49] a query that cannot be begun leaves no agent behind", async () => {
    let listeners = 0
    // Passes every check, and then fails: nothing a program means to do.
    const { signal } = new AbortController()
    signal.addEventListener = () => {
      if (++listeners > 1) throw new Error("listened to twice")
    }
    const abortController = Object.create(AbortController.prototype, { signal: { value: signal } })
    const agent = fakeAgent([{ until: "end" }], { abortController })
    const { error } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(error).toMatchObject({ message: "listened to twice" })
    const { pid } = await agent.untilLogged((entry) => entry.pid !== undefined)
    await gone(pid)
  })

  it("[Q41] a signal", async () => {
    const agent = fakeAgent([{ until: "user" }, { kill: "SIGKILL" }, { pause: 1000 }])
    const { error } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(error).toMatchObject({ code: "process/signal", details: { signal: "SIGKILL" } })
  })

  it("[Q40] what the program's own spawner throws is thrown by query()", () => {
    const cause = new Error("no room")
    const spawnClaudeCodeProcess = () => {
      throw cause
    }
    const start = () => query({ prompt: "hello", options: { spawnClaudeCodeProcess } })
    expect(start).toThrow(expect.objectContaining({ code: "process/spawn-failed", message: "no room", cause }))
  })

  it("[Q40] a file that cannot be executed is told from one that is not there", async () => {
    const { error } = await hear(query({ prompt: "hello", options: { pathToClaudeCodeExecutable: tmpdir() } }))
    const message: unknown = expect.stringContaining("exists but failed to launch: it is a directory")
    expect(error).toMatchObject({ code: "process/spawn-failed", message })
  })

  const wordless = { type: "user", message: { role: "user", content: 7 } }
  it.each([["a text"], [undefined], [7], [{ type: "user" }], [wordless]])(
    "[Q2] a prompt that yields %j, which is no message, fails the query",
    async (yielded) => {
      const agent = fakeAgent([{ until: "end" }, { exit: 0 }])
      async function* prompt(): AsyncGenerator<SDKUserMessage> {
        // A program in JavaScript may yield anything.
        yield yielded as unknown as SDKUserMessage
      }
      const { error } = await hear(query({ prompt: prompt(), options: agent.options }))
      expect(error).toMatchObject({ code: "query/prompt-failed" })
    },
  )

  it("[Q41] exit code 0 without a word is an end like any other", async () => {
    const agent = fakeAgent([{ until: "user" }, { exit: 0 }])
    expect(await hear(query({ prompt: "hello", options: agent.options }))).toEqual({ kinds: [], messages: [] })
  })

  it.each([
    [{ subtype: "error_during_execution", is_error: true, errors: ["one", "two"], result: undefined }, "one; two"],
    [{ is_error: true, result: "API Error: 400" }, "API Error: 400"],
  ])("[Q42] a failed exit after an error result tells what the result said", async (over, text) => {
    const agent = fakeAgent([{ until: "user" }, { say: result(over) }, { until: "end" }, { exit: 1 }])
    const { kinds, error } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(kinds).toHaveLength(1)
    expect(error).toMatchObject({ code: "result/error", message: `Claude Code returned an error result: ${text}` })
  })

  it("[Q42] a failed exit is one after a good result as well", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: result() }, { until: "end" }, { exit: 1 }])
    const { kinds, error } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(kinds).toEqual(["result/success"])
    expect(error).toMatchObject({ code: "process/exit", details: { exitCode: 1 } })
  })

  it("[Q43] a prompt that throws fails the query with its own error as the cause", async () => {
    const cause = new Error("no more paper")
    // oxlint-disable-next-line require-yield -- it fails before it could
    async function* prompt(): AsyncGenerator<SDKUserMessage> {
      throw cause
    }
    const agent = fakeAgent([{ until: "end" }, { exit: 0 }])
    const { error } = await hear(query({ prompt: prompt(), options: agent.options }))
    expect(error).toMatchObject({ code: "query/prompt-failed", cause })
  })
})

describe("a prompt that fails after its first message", () => {
  const cause = new Error("no more paper")
  async function* prompt(): AsyncGenerator<SDKUserMessage> {
    yield { type: "user", message: { role: "user", content: "hello" }, parent_tool_use_id: null }
    throw cause
  }
  const failure = { code: "query/prompt-failed", message: "the prompt could not be sent: no more paper", cause }

  it("[Q43] what the agent says to the message is delivered, then the failure is thrown, and no agent is left", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: system("init") }, { pause: 300 }, { say: result() }])
    const running = query({ prompt: prompt(), options: agent.options })
    const { kinds, error } = await hear(running)
    expect(kinds).toEqual(["system/init", "result/success"])
    expect(error).toMatchObject(failure)
    expect(await running.next()).toEqual({ value: undefined, done: true })
    await gone(agent.log()[0]?.pid)
  })

  it("[Q43] a question of that turn is still answered", async () => {
    const agent = fakeAgent(
      [
        { until: "user" },
        { pause: 100 },
        { say: ask("late", canUseBash) },
        { until: "control_response" },
        { say: result() },
      ],
      { canUseTool: async () => ({ behavior: "allow" }) },
    )
    const { kinds, error } = await hear(query({ prompt: prompt(), options: agent.options }))
    expect(kinds).toEqual(["result/success"])
    expect(agent.answers()["late"]).toMatchObject({ subtype: "success" })
    expect(error).toMatchObject(failure)
  })

  it("[Q43] an agent that takes too long for it, or ends badly, does not hide the failure", async () => {
    const slow = fakeAgent([{ until: "user" }, { say: system("init") }], {}, { stay: true })
    const heard = await hear(query({ prompt: prompt(), options: slow.options }))
    expect(heard.kinds).toEqual(["system/init"])
    expect(heard.error).toMatchObject(failure)
    await gone(slow.log()[0]?.pid)
    const bad = fakeAgent([{ until: "user" }, { say: result() }, { exit: 1 }])
    expect((await hear(query({ prompt: prompt(), options: bad.options }))).error).toMatchObject(failure)
  })

  it("[Q43] an abort and a close are told as such, also then", async () => {
    const abortController = new AbortController()
    const agent = fakeAgent([{ until: "user" }, { say: system("init") }], { abortController }, { stay: true })
    const running = query({ prompt: prompt(), options: agent.options })
    await firstOf(running)
    abortController.abort()
    await expect(running.next()).rejects.toBeInstanceOf(AbortError)
    const other = fakeAgent([{ until: "user" }, { say: system("init") }], {}, { stay: true })
    const closed = query({ prompt: prompt(), options: other.options })
    await firstOf(closed)
    closed.close()
    expect(await closed.next()).toEqual({ value: undefined, done: true })
  })
})

describe("how a query is ended", () => {
  it("[Q44] aborted before: nothing is started", () => {
    const abortController = new AbortController()
    abortController.abort()
    const agent = fakeAgent(quiet, { abortController })
    expect(() => query({ prompt: "hello", options: agent.options })).toThrow(AbortError)
    expect(agent.log()).toEqual([])
  })

  it("[Q44] aborted at work: the agent is ended, the read throws, and so do calls under way", async () => {
    const abortController = new AbortController()
    const agent = fakeAgent(quiet, { abortController }, { mute: ["set_model"], stay: true })
    const running = query({ prompt: "hello", options: agent.options })
    await firstOf(running)
    const call = running.setModel("m")
    await expect.poll(() => agent.sent("control_request").length).toBe(2)
    abortController.abort("enough")
    await expect(running.next()).rejects.toMatchObject({ code: "query/aborted", cause: "enough" })
    await expect(call).rejects.toBeInstanceOf(AbortError)
    await expect(running.setModel("m")).rejects.toMatchObject({ code: "query/closed" })
    await gone(agent.log()[0]?.pid)
  })

  it("[Q45] leaving the loop ends the agent, and nothing of it is left", async () => {
    const agent = fakeAgent(quiet)
    for await (const said of query({ prompt: "hello", options: agent.options })) {
      expect(said.type).toBe("system")
      break
    }
    expect(agent.log().some(({ end }) => end === true)).toBe(true)
    expect(isAlive(agent.log()[0]?.pid ?? 0)).toBe(false)
  })

  it("[Q45] close ends the read at once; twice is once; afterwards calls are refused, and what is known is known", async () => {
    const agent = fakeAgent(quiet, {}, { replies: { initialize: { commands: [{ name: "a", description: "b" }] } } })
    const running = query({ prompt: "hello", options: agent.options })
    await firstOf(running)
    running.close()
    running.close()
    expect(await running.next()).toEqual({ value: undefined, done: true })
    await expect(running.setModel("m")).rejects.toMatchObject({ code: "query/closed" })
    await expect(running.streamInput((async function* () {})())).rejects.toMatchObject({ code: "query/closed" })
    expect(await running.supportedCommands()).toEqual([{ name: "a", description: "b" }])
    await gone(agent.log()[0]?.pid)
  })

  it("[Q46] an agent that ignores the end of its input and TERM is killed", { timeout: 30_000 }, async () => {
    const agent = fakeAgent(quiet, {}, { stay: true, ignoreTerm: true })
    const running = query({ prompt: "hello", options: agent.options })
    await firstOf(running)
    await running[Symbol.asyncDispose]()
    expect(agent.log().some(({ signal }) => signal === "SIGTERM")).toBe(true)
    expect(isAlive(agent.log()[0]?.pid ?? 0)).toBe(false)
  })

  it("[Q47] a process of another maker is driven through its own methods", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: result() }])
    const seen: string[][] = []
    const options = {
      ...agent.options,
      spawnClaudeCodeProcess: ({ command, args, env }: { command: string; args: string[]; env: NodeJS.ProcessEnv }) => {
        seen.push([command, ...args])
        return spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] })
      },
    }
    expect((await hear(query({ prompt: "hello", options }))).kinds).toEqual(["result/success"])
    expect(seen[0]?.slice(0, 2)).toEqual(["node", agent.options.pathToClaudeCodeExecutable])
  })
})
