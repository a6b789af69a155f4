import { composeAllow, composeSuccess, type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import { profileNames, type Scenario } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { type Asked, subtypeOf, withSim } from "../support/sim-host.ts"

const says = (...texts: string[]): Scenario => ({ turns: texts.map((text) => ({ steps: [{ say: text }] })) })
const steps = (...list: Scenario["turns"][number]["steps"]): Scenario => ({ turns: [{ steps: list }] })
const course = (messages: readonly Envelope[]) =>
  messages.map((message) => [message.type, subtypeOf(message)].filter((part) => part !== undefined).join("/"))
const ofType = (messages: readonly Envelope[], type: string) => messages.filter((message) => message.type === type)
const bash = (command: string) => ({ tool: "Bash", input: { command } })

function allow(asked: Asked): Envelope | null {
  if (asked.subtype !== "can_use_tool") return null
  return composeAllow({ request_id: asked.request_id, request: { input: fieldOf(asked.request, "input") ?? {} } })
}

describe.each(profileNames)("a simulated agent of profile %s", (profile) => {
  it("[A1] says nothing until it is spoken to, and begins every turn with an init", async () => {
    await withSim({ scenario: says("One.", "Two."), profile }, async (host) => {
      await host.request({ subtype: "initialize" })
      expect(course(host.seen)).toEqual(["control_response"])
      for (const result of ["One.", "Two."]) {
        const turn = ofType(await host.turn("go"), "system")
        expect(turn[0]).toMatchObject({ subtype: "init", claude_code_version: profile })
        expect(host.seen.at(-1)).toMatchObject({ type: "result", result })
      }
    })
  })

  it("[A2] tells one assistant message for each content block, all of one message's id", async () => {
    const scenario = steps({ think: "Hm." }, { say: "First." }, { say: "Second." })
    await withSim({ scenario, profile }, async (host) => {
      const said = ofType(await host.turn("go"), "assistant")
      const blocks = said.map((message) => fieldOf(message, "message")?.["content"])
      expect(blocks).toMatchObject([[{ type: "thinking" }], [{ text: "First." }], [{ text: "Second." }]])
      expect(new Set(said.map((message) => textOf(fieldOf(message, "message"), "id"))).size).toBe(1)
    })
  })

  it("[A3] puts a block's message between its last delta and its end, when partial messages are wanted", async () => {
    const scenario = steps({ say: "Hello there.", deltas: 3 })
    await withSim({ scenario, profile, launch: { includePartialMessages: true } }, async (host) => {
      const turn = await host.turn("go")
      const kinds = turn
        .filter(({ type }) => type === "stream_event" || type === "assistant")
        .map((message) => textOf(fieldOf(message, "event"), "type") ?? message.type)
      expect(kinds).toEqual([
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "assistant",
        "content_block_stop",
        "message_delta",
        "message_stop",
      ])
    })
  })

  it("[A4] adds up costs for the process and counts tokens for the turn", async () => {
    const usage = { inputTokens: 1000, outputTokens: 100 }
    const scenario = {
      turns: [
        { steps: [{ say: "a" }], usage },
        { steps: [{ say: "b" }], usage, costUsd: 0.5 },
      ],
    }
    await withSim({ scenario, profile }, async (host) => {
      const [first, second] = [(await host.turn("1")).at(-1), (await host.turn("2")).at(-1)]
      expect(Number(second?.["total_cost_usd"])).toBeCloseTo(Number(first?.["total_cost_usd"]) + 0.5)
      expect(fieldOf(second, "usage")).toMatchObject({ input_tokens: 1000, output_tokens: 100 })
      const [model] = Object.values(fieldOf(second, "modelUsage") ?? {})
      expect(model).toMatchObject({ inputTokens: 2000, outputTokens: 200 })
    })
  })

  it("[A5] breaks off at an interrupt, wherever the turn is, and goes on with the next", async () => {
    const scenario = {
      turns: [{ steps: [{ say: "Once", unfinished: true }, { hang: true as const }] }, { steps: [{ say: "On." }] }],
    }
    await withSim({ scenario, profile }, async (host) => {
      await host.prompt("tell")
      await host.agent.untilHanging()
      expect(await host.request({ subtype: "interrupt" })).toMatchObject({ subtype: "success" })
      expect(await host.until("result")).toMatchObject({
        subtype: "error_during_execution",
        is_error: profile !== "2.1.37",
      })
      expect((await host.turn("on")).at(-1)).toMatchObject({ result: "On." })
    })
  })

  it("[A6] takes back its question when it is interrupted, before it answers the interrupt", async () => {
    await withSim({ scenario: steps(bash("touch x"), { say: "no" }), profile }, async (host) => {
      await host.prompt("go")
      const asked = await host.until("control_request", "can_use_tool")
      await host.request({ subtype: "interrupt" })
      const rest = host.seen.slice(host.seen.indexOf(asked) + 1)
      expect(rest[0]).toEqual({ type: "control_cancel_request", request_id: asked["request_id"] })
      expect(rest[1]?.type).toBe("control_response")
      expect(await host.until("result")).toMatchObject({ permission_denials: [{ tool_name: "Bash" }] })
    })
  })

  it("[A7] runs a queued message after the turn: the oldest each by itself, the newer ones all in one", async () => {
    const scenario = {
      turns: [{ steps: [{ hang: true as const }, { say: "1" }] }, { steps: [{ say: "2" }] }, { steps: [{ say: "3" }] }],
    }
    await withSim({ scenario, profile }, async (host) => {
      await host.prompt("a")
      await host.agent.untilHanging()
      await host.prompt("b")
      await host.prompt("c")
      await host.request({ subtype: "mcp_status" })
      host.agent.release()
      await host.until("result")
      expect(await host.until("result")).toMatchObject({ result: "2" })
      if (profile === "2.1.37") await host.until("result")
      await host.request({ subtype: "mcp_status" })
      const results = ofType(host.seen, "result").map(({ result }) => result)
      expect(results).toEqual(profile === "2.1.37" ? ["1", "2", "3"] : ["1", "2"])
    })
  })

  it("[A8] starts no second turn for a message whose uuid it has seen", async () => {
    const uuid = "7a7a7a7a-1111-4222-8333-444455556666"
    await withSim({ scenario: says("One.", "Two."), profile }, async (host) => {
      await host.turn("hi", uuid)
      await host.prompt("hi", uuid)
      expect((await host.turn("else")).at(-1)).toMatchObject({ result: "Two." })
    })
  })

  it("[A9] gives a tool the scenario's result, and touches neither disk nor shell unless it is told to", async () => {
    const scenario = steps(
      { ...bash("rm -rf /"), result: "gone", durationMs: 5 },
      { ...bash("exit 1"), result: "bad", isError: true },
      {
        say: "ok",
      },
    )
    await withSim({ scenario, profile, onRequest: allow }, async (host) => {
      const turn = await host.turn("go")
      const blocks = ofType(turn, "user").map((message) => fieldOf(message, "message")?.["content"])
      expect(blocks).toMatchObject([[{ content: "gone", is_error: false }], [{ content: "bad", is_error: true }]])
    })
  })

  it("[A10] keeps the files that its tools pretend to write, for its tools", async () => {
    const file = "/nowhere/at/all.txt"
    const scenario = steps(
      { tool: "Write", input: { file_path: file, content: "x\n" } },
      { tool: "Read", input: { file_path: file } },
      {
        say: "ok",
      },
    )
    await withSim({ scenario, profile, onRequest: allow }, async (host) => {
      const turn = await host.turn("go")
      expect(JSON.stringify(ofType(turn, "user").at(-1))).toContain('"content":"x\\n"')
    })
  })

  it("[A11] ends a sub-agent's work in its result, and marks what it says with the call it belongs to", async () => {
    const scenario = {
      turns: [
        {
          steps: [
            {
              tool: "Task",
              id: "toolu_agent",
              input: { description: "look", prompt: "Look.", subagent_type: "Explore" },
              agent: [{ ...bash("ls"), result: "README" }, { say: "A README." }],
            },
            { say: "Good." },
          ],
        },
        { on: "task-notification", steps: [{ say: "I heard." }] },
      ],
    }
    await withSim({ scenario, profile }, async (host) => {
      const turn = await host.turn("go")
      const inside = turn.filter((message) => message["parent_tool_use_id"] === "toolu_agent")
      expect(course(inside)).toContain("assistant")
      expect(JSON.stringify(inside)).toContain("README")
      expect(JSON.stringify(host.seen)).toContain("A README.")
      expect(turn.at(-1)).toMatchObject({ result: "Good." })
    })
  })

  it("[A12] plays rate limits, compaction, elicitations and any message at all, where the version knows them", async () => {
    const scenario = {
      turns: [
        {
          steps: [
            { compact: "auto" as const, preTokens: 9000, summary: "So far." },
            { rateLimit: "allowed_warning" as const, utilization: 0.9 },
            { elicit: "Your name?", server: "files", schema: { type: "object", properties: { name: {} } } },
            { emit: { type: "system", subtype: "notification", key: "k", text: "Look.", priority: "low" } },
            { say: "ok" },
          ],
        },
      ],
    }
    const onRequest = (asked: Asked) =>
      asked.subtype === "elicitation" ? composeSuccess(asked.request_id, { action: "decline" }) : null
    await withSim({ scenario, profile, onRequest }, async (host) => {
      const told = course(await host.turn("go"))
      const newer = profile === "2.1.37" ? [] : ["rate_limit_event", "control_request/elicitation"]
      for (const kind of ["system/status", "system/compact_boundary", "system/notification", ...newer]) {
        expect(told).toContain(kind)
      }
    })
  })

  it("[A13] gives the same ids from the same seed", async () => {
    const run = async () => {
      let seen: unknown[] = []
      await withSim({ scenario: says("Hi."), profile, seed: 7 }, async (host) => {
        await host.turn("go")
        seen = host.seen.map((message) => message["uuid"])
      })
      return seen
    }
    expect(await run()).toEqual(await run())
  })

  it("[A14] names the request it does not know, or keeps silent where its version does", async () => {
    await withSim({ scenario: says("Hi."), profile }, async (host) => {
      await host.send({ type: "control_request", request_id: "odd", request: { subtype: "never_heard_of" } })
      await host.request({ subtype: "mcp_status" })
      const answers = host.seen.filter((message) => fieldOf(message, "response")?.["request_id"] === "odd")
      expect(answers).toHaveLength(profile === "2.1.37" ? 0 : 1)
    })
  })
})

describe("what kills an agent", () => {
  const deaths: [string, string, string][] = [
    ["a blank line", " ", "2.1.37"],
    ["a type it does not know", '{"type":"interrupt"}', "2.1.37"],
    ["an answer without a body", '{"type":"control_response","request_id":"x"}', "2.1.37"],
    ["an answer without a body", '{"type":"control_response","request_id":"x"}', "2.1.120"],
    ["a line that is no JSON", "{oh", "2.1.325"],
  ]
  it.each(deaths)("[A15] %s (%j) ends %s with code 1 and a word on stderr", async (_, line, profile) => {
    const { StdioTransport } = await import("../../src/cli/roads.ts")
    const { PassThrough } = await import("node:stream")
    const { createLaunch, openSimulatedAgent } = await import("@signalbox/simulator")
    const [input, output] = [new PassThrough(), new PassThrough()]
    const stderr: string[] = []
    const launch = createLaunch({ cwd: "/", configDir: "/nowhere", session: { persist: false } })
    const transport = new StdioTransport(input, output)
    const agent = openSimulatedAgent({ transport, launch, profile, onStderr: (text) => stderr.push(text) })
    input.write(`${line}\n`)
    expect(await agent.exited).toEqual({ code: 1 })
    expect(stderr.join("")).not.toBe("")
    input.end()
  })

  it("[A16] a newer one lives through all of them but rubbish", async () => {
    await withSim({ scenario: says("Alive."), profile: "2.1.325" }, async (host) => {
      await host.send({ type: "interrupt" })
      await host.send({ type: "control_response", request_id: "x" })
      await host.send({ type: "control_cancel_request", request_id: "x" })
      expect((await host.turn("hi")).at(-1)).toMatchObject({ result: "Alive." })
    })
  })
})
