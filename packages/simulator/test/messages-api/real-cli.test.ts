import { existsSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { ensureClaude } from "../../../../scripts/claude-cli.mjs"
import { claudeVersionsNow, waitsOutRetries } from "../../../../test/gate.ts"
import type { Scenario } from "../../src/index.ts"
import { openApi } from "./api-client.ts"
import { ClaudeProcess, type Line } from "./claude-process.ts"

interface Asked {
  request_id: string
  request: { subtype: string; tool_name: string; input: { command?: string } }
}

const isAsk = (line: Line): line is Line & Asked => line.type === "control_request"

/** Allows the tools the CLI asks about until the turn has its result; gives the names of the tools. */
async function allowTools(claude: ClaudeProcess): Promise<{ tools: string[]; result: Line }> {
  const tools: string[] = []
  for (;;) {
    const line = await claude.next((line) => line.type === "result" || isAsk(line))
    if (!isAsk(line)) return { tools, result: line }
    tools.push(line.request.tool_name)
    const response = { behavior: "allow", updatedInput: line.request.input }
    claude.send({ type: "control_response", response: { subtype: "success", request_id: line.request_id, response } })
  }
}

// Downloads are no part of a test's time.
beforeAll(async () => {
  for (const version of claudeVersionsNow) await ensureClaude(version)
}, 600_000)

describe.each([...claudeVersionsNow])("Claude Code %s", (version) => {
  const start = async (turns: Scenario["turns"], flags?: string[]) => {
    const api = await openApi(turns)
    return { api, claude: await ClaudeProcess.start(version, api, flags) }
  }

  test("has a conversation of two turns, at the scenario's cost", async () => {
    const { api, claude } = await start([
      {
        steps: [{ think: "A greeting." }, { say: "Hello there", deltas: 3 }],
        usage: { inputTokens: 1000, outputTokens: 100 },
      },
      { on: "again", steps: [{ say: "Hello again" }] },
    ])
    claude.say("hello")
    const first = await claude.result()
    expect(first).toMatchObject({ subtype: "success", result: "Hello there", is_error: false })
    expect(first["usage"]).toMatchObject({ input_tokens: 1000, output_tokens: 100 })
    expect(first["total_cost_usd"]).toBeGreaterThan(0)
    claude.say("and again")
    expect(await claude.result()).toMatchObject({ result: "Hello again" })
    expect(await claude.end()).toBe(0)
    expect(api.errors).toEqual([])
    expect(api.requests.map((request) => request.headers["x-api-key"])).toContain("<redacted>")
  })

  test("runs one tool after another when it is allowed to", async () => {
    const { api, claude } = await start([
      {
        steps: [
          { say: "First a file." },
          { tool: "Bash", input: { command: "touch made.txt", description: "make a file" } },
          { tool: "Bash", input: { command: "touch made-2.txt", description: "make another" } },
          { say: "Done." },
        ],
      },
      { steps: [{ say: "not yet" }] },
    ])
    claude.say("make the files")
    const { tools, result } = await allowTools(claude)
    expect(tools).toEqual(["Bash", "Bash"])
    expect(result).toMatchObject({ result: "Done." })
    for (const name of ["made.txt", "made-2.txt"]) expect(existsSync(join(claude.cwd, name))).toBe(true)
    expect(api.errors).toEqual([])
  })

  test("runs two tools of one reply", async () => {
    const call = (file: string) => ({ tool: "Bash", input: { command: `touch ${file}`, description: "make a file" } })
    const { api, claude } = await start([{ steps: [{ reply: [call("a"), call("b")] }, { say: "Both." }] }])
    claude.say("make both")
    const { tools, result } = await allowTools(claude)
    expect(tools).toEqual(["Bash", "Bash"])
    expect(result).toMatchObject({ result: "Both." })
    expect(existsSync(join(claude.cwd, "a")) && existsSync(join(claude.cwd, "b"))).toBe(true)
    expect(api.errors).toEqual([])
  })

  if (waitsOutRetries) {
    test("tries again when the API is overloaded, and when a stream breaks", async () => {
      const part = { say: "par", unfinished: true }
      const { api, claude } = await start([
        { steps: [{ error: 529, retryAfter: 0.1 }, { ...part }, { streamError: "api_error" }, { say: "whole" }] },
        { steps: [{ ...part }, { cut: true }, { say: "whole again" }] },
      ])
      claude.say("go")
      expect(await claude.result()).toMatchObject({ result: "whole" })
      claude.say("go on")
      expect(await claude.result()).toMatchObject({ result: "whole again" })
      expect(api.errors).toEqual([])
    })

    test("ends a turn that is refused, and goes on with the next", async () => {
      const { api, claude } = await start([
        { steps: [], stop: { reason: "refusal", category: "cyber", explanation: "not this" } },
        { steps: [{ say: "Gladly" }] },
      ])
      claude.say("something bad")
      const refused = await claude.result()
      expect(refused["is_error"]).toBe(true)
      claude.say("something good")
      expect(await claude.result()).toMatchObject({ result: "Gladly", is_error: false })
      expect(api.errors).toEqual([])
    })
  }

  test("is interrupted in a reply that hangs", async () => {
    const { api, claude } = await start([{ steps: [{ say: "wait" }, { hang: true }] }, { steps: [{ say: "instead" }] }])
    claude.say("go")
    await api.untilHanging()
    claude.send({ type: "control_request", request_id: "i1", request: { subtype: "interrupt" } })
    expect(await claude.result()).toMatchObject({ subtype: "error_during_execution" })
    claude.say("something else")
    expect(await claude.result()).toMatchObject({ result: "instead" })
    expect(api.errors).toEqual([])
  })

  test("is asked to go on after the token limit", async () => {
    const { api, claude } = await start([
      { steps: [{ reply: [{ say: "half" }], stop: "max_tokens" }, { say: "the rest" }] },
      { steps: [{ say: "next" }] },
    ])
    claude.say("a long story")
    expect(await claude.result()).toMatchObject({ result: "the rest" })
    claude.say("another")
    expect(await claude.result()).toMatchObject({ result: "next" })
    expect(api.errors).toEqual([])
  })

  test("makes its side calls, sub-agents and summaries without using up the script", async () => {
    const agent = {
      description: "look",
      prompt: "look around",
      subagent_type: "general-purpose",
      run_in_background: false,
    }
    const { api, claude } = await start([
      {
        steps: [
          { tool: version === "2.1.37" ? "Task" : "Agent", input: agent },
          { tool: "Bash", input: { command: "FOO=1 cat /dev/null | head -3", description: "nothing" } },
          { tool: "WebSearch", input: { query: "weather today" } },
          { say: "Seen." },
        ],
      },
      { steps: [{ say: "After the summary." }] },
    ])
    claude.say("look into it")
    expect((await allowTools(claude)).result).toMatchObject({ result: "Seen." })
    claude.say("/compact")
    await claude.result()
    claude.say("go on")
    expect(await claude.result()).toMatchObject({ result: "After the summary." })
    const sides = api.requests.flatMap((request) => request.side ?? [])
    expect(sides).toEqual(expect.arrayContaining(["agent", "webSearch", "compact"]))
    expect(sides).not.toContain("other")
    expect(api.errors).toEqual([])
  })

  test("converses without any tools", async () => {
    const { api, claude } = await start([{ steps: [{ say: "just talk" }] }], ["--tools", ""])
    claude.say("hello")
    expect(await claude.result()).toMatchObject({ result: "just talk" })
    expect(api.requests).toMatchObject([{ kind: "conversation", tools: [] }])
  })
})
