import { describe, expect, it, vi } from "vitest"
import { type CanUseToolOptions, type Options, query } from "../src/index.ts"
import { ask, canUseBash, type FakeSettings, fakeAgent, hear, result, system } from "./fake-agent.ts"

/** The agent asks this in its turn, and goes on when it has its answer. */
function asking(request: Record<string, unknown>, options: Options, settings?: FakeSettings) {
  const steps = [{ until: "user" }, { say: ask("q-1", request) }, { until: "control_response" }, { say: result() }]
  return fakeAgent(steps, options, settings)
}

async function answerTo(
  request: Record<string, unknown>,
  options: Options,
): Promise<Record<string, unknown> | undefined> {
  const agent = asking(request, options)
  const { error } = await hear(query({ prompt: "hello", options: agent.options }))
  expect(error).toBeUndefined()
  return agent.answers()["q-1"]
}

const success = (response: unknown) => ({ subtype: "success", request_id: "q-1", response })
const failure = (error: string) => ({ subtype: "error", request_id: "q-1", error })

describe("permissions", () => {
  it("[Q10] the callback gets the tool, its input, and all the agent says about it", async () => {
    let seen: { name: string; input: unknown; options: CanUseToolOptions } | undefined
    await answerTo(
      {
        ...canUseBash,
        permission_suggestions: [],
        blocked_path: "/b",
        decision_reason: "why",
        agent_id: "a-1",
        mcp_server: { name: "n", source: "s", more: 1 },
        title: "t",
        display_name: "d",
        description: "e",
        default_to_no: true,
        suppress_always_allow_rule: true,
        matched_ask_rule: { source: "s", tool_name: "Bash", rule_content: "c", more: 1 },
      },
      {
        canUseTool: async (name, input, options) => {
          seen = { name, input, options }
          return { behavior: "deny", message: "no" }
        },
      },
    )
    expect(seen).toMatchObject({ name: "Bash", input: { command: "ls" } })
    const { signal, ...rest } = seen?.options ?? { signal: undefined }
    expect(signal).toBeInstanceOf(AbortSignal)
    expect(rest).toEqual({
      suggestions: [],
      blockedPath: "/b",
      mcpServer: { name: "n", source: "s" },
      decisionReason: "why",
      title: "t",
      displayName: "d",
      description: "e",
      defaultToNo: true,
      suppressAlwaysAllowRule: true,
      toolUseID: "tu-1",
      agentID: "a-1",
      requestId: "q-1",
      matchedAskRule: { source: "s", toolName: "Bash", ruleContent: "c" },
    })
  })

  it.each<[string, Options["canUseTool"], unknown]>([
    [
      "an allow carries the tool's own input",
      async () => ({ behavior: "allow" }),
      success({ behavior: "allow", updatedInput: { command: "ls" }, toolUseID: "tu-1" }),
    ],
    [
      "an allow may change the input; the tool use is always the asked one",
      async () => ({ behavior: "allow", updatedInput: { command: "pwd" }, toolUseID: "another" }),
      success({ behavior: "allow", updatedInput: { command: "pwd" }, toolUseID: "tu-1" }),
    ],
    [
      "a denial goes out as it is",
      async () => ({ behavior: "deny", message: "no", interrupt: true }),
      success({ behavior: "deny", message: "no", interrupt: true, toolUseID: "tu-1" }),
    ],
    ["a callback that rejects is an error answer", () => Promise.reject(new Error("broken")), failure("broken")],
    [
      "so is one that throws",
      () => {
        throw new Error("broken")
      },
      failure("broken"),
    ],
    ["so is none", undefined, failure("canUseTool callback is not provided.")],
  ])("[Q11] %s", async (_title, canUseTool, expected) => {
    expect(await answerTo(canUseBash, { canUseTool })).toEqual(expected)
  })

  it("[Q11] null means that somebody else answers", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: ask("q-1", canUseBash) }, { say: result() }], {
      canUseTool: async () => null,
    })
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.answers()).toEqual({})
  })

  it("[Q12] with a time limit, what nobody decides is denied and says so; without one it waits", async () => {
    let signal: AbortSignal | undefined
    const answer = await answerTo(canUseBash, {
      permissionTimeoutMs: 20,
      canUseTool: (_name, _input, options) => {
        signal = options.signal
        return new Promise(() => undefined)
      },
    })
    const message = "Permission was not decided within 20 ms, so it was denied."
    expect(answer).toEqual(success({ behavior: "deny", message, toolUseID: "tu-1" }))
    expect(signal?.aborted).toBe(true)
  })

  it("[Q35] messages are read and callbacks called in the order of the wire, and none waits for another", async () => {
    const seen: string[] = []
    const hook = { subtype: "hook_callback", callback_id: "hook_0", input: {}, tool_use_id: "h" }
    const agent = fakeAgent(
      [
        { until: "user" },
        { say: system("init") },
        { say: ask("q-1", canUseBash) },
        { say: ask("q-2", hook) },
        { say: system("status") },
        { say: ask("q-3", hook) },
        { until: "control_response" },
        { until: "control_response" },
        { until: "control_response" },
        { say: result() },
      ],
      {
        canUseTool: async () => {
          seen.push("permission")
          // It is decided only when the last hook has been called.
          await vi.waitFor(() => expect(seen.filter((one) => one === "hook")).toHaveLength(2), { timeout: 10_000 })
          return { behavior: "deny", message: "no" }
        },
        hooks: {
          PreToolUse: [
            {
              hooks: [
                async () => {
                  seen.push("hook")
                  return {}
                },
              ],
            },
          ],
        },
      },
    )
    for await (const said of query({ prompt: "hello", options: agent.options }))
      seen.push("subtype" in said ? said.subtype : said.type)
    expect(seen).toEqual(["init", "permission", "hook", "status", "hook", "success"])
  })

  it("[Q13] a question that is taken back aborts the signal, and a late answer is not sent", async () => {
    const agent = fakeAgent(
      [
        { until: "user" },
        { say: ask("q-1", canUseBash) },
        { say: { type: "control_cancel_request", request_id: "q-1" } },
        { say: ask("q-2", canUseBash) },
        { until: "control_response" },
        { say: result() },
      ],
      {
        canUseTool: async (_name, _input, { signal, requestId }) => {
          if (requestId === "q-1") await new Promise((resolve) => signal.addEventListener("abort", resolve))
          return { behavior: "allow" }
        },
      },
    )
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(Object.keys(agent.answers())).toEqual(["q-2"])
  })

  it("[Q18] a second delivery of a question in flight is dropped; asked again later it is a new one", async () => {
    let calls = 0
    let bothCame: () => void = () => undefined
    const both = new Promise<void>((resolve) => {
      bothCame = resolve
    })
    const agent = fakeAgent(
      [
        { until: "user" },
        { say: ask("q-1", canUseBash), times: 2 },
        { say: { type: "both_came" } },
        { until: "control_response" },
        { say: ask("q-1", canUseBash) },
        { until: "control_response" },
        { say: result() },
      ],
      {
        canUseTool: async () => {
          calls++
          await both
          return { behavior: "allow" }
        },
      },
    )
    for await (const said of query({ prompt: "hello", options: agent.options })) if (said.type !== "result") bothCame()
    expect(calls).toBe(2)
    expect(agent.sent("control_response")).toHaveLength(2)
  })

  it.each<[string, FakeSettings]>([
    ["a success", {}],
    ["an error", { refuse: { initialize: "Already initialized" } }],
  ])("[Q18] questions that were open before are handed over with the first answer, be it %s", async (_what, more) => {
    const settings = { ...more, pending: { pending_permission_requests: [ask("old", canUseBash)] } }
    const agent = fakeAgent(
      [{ until: "control_response" }, { until: "user" }, { say: result() }],
      { canUseTool: async () => ({ behavior: "allow" }) },
      settings,
    )
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.answers()["old"]).toMatchObject({ subtype: "success", response: { behavior: "allow" } })
  })
})

describe("hooks", () => {
  const input = { hook_event_name: "PreToolUse", tool_name: "Bash" }
  const call = (id: string) => ({ subtype: "hook_callback", callback_id: id, input, tool_use_id: "tu-1" })

  it("[Q14] are registered by event with ids counted over all, and called by them", async () => {
    const seen: unknown[] = []
    const agent = asking(call("hook_2"), {
      hooks: {
        PreToolUse: [
          { matcher: "Bash", hooks: [async () => ({}), async () => ({})], timeout: 7 },
          {
            hooks: [
              async (given, toolUseID, { signal }) => {
                seen.push(given, toolUseID, signal.aborted)
                return { continue: true }
              },
            ],
          },
        ],
        Stop: [{ hooks: [async () => ({ async: true })] }],
      },
    })
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.sent("control_request")[0]).toMatchObject({
      request: {
        hooks: {
          PreToolUse: [
            { matcher: "Bash", hookCallbackIds: ["hook_0", "hook_1"], timeout: 7 },
            { hookCallbackIds: ["hook_2"] },
          ],
          Stop: [{ hookCallbackIds: ["hook_3"] }],
        },
      },
    })
    expect(seen).toEqual([input, "tu-1", false])
    expect(agent.answers()["q-1"]).toEqual(success({ continue: true }))
  })

  it("[Q14] one that fails is an error answer, and so is one that is not there", async () => {
    const hooks = { PreToolUse: [{ hooks: [() => Promise.reject(new Error("broken"))] }] }
    expect(await answerTo(call("hook_0"), { hooks })).toEqual(failure("broken"))
    expect(await answerTo(call("hook_9"), { hooks })).toEqual(failure("No hook callback found for ID: hook_9"))
  })

  it.each([["block"], ["a word nobody knows"]])(
    "[Q19] a hook with %j is not trusted to an agent that cannot do it: nothing is asked of it",
    async (word) => {
      // What a program without types may say.
      const onFailure = word as "block"
      const hooks = { PreToolUse: [{ hooks: [async () => ({})], onFailure }] }
      const agent = fakeAgent([], { hooks })
      const { error } = await hear(query({ prompt: "hello", options: agent.options }))
      expect(error).toMatchObject({ code: "sdk/unsupported" })
      expect(agent.sent("user")).toEqual([])

      const able = { replies: { initialize: { hook_on_failure_supported: true } } }
      const other = fakeAgent([{ until: "user" }, { say: result() }], { hooks }, able)
      expect((await hear(query({ prompt: "hello", options: other.options }))).kinds).toEqual(["result/success"])
    },
  )
})

describe("other requests", () => {
  const elicitation = {
    subtype: "elicitation",
    mcp_server_name: "n",
    message: "m",
    mode: "form",
    requested_schema: { type: "object" },
  }

  it("[Q16] an elicitation is declined when nobody can be asked", async () => {
    expect(await answerTo(elicitation, {})).toEqual(success({ action: "decline" }))
    let seen: unknown
    const onElicitation: Options["onElicitation"] = async (request) => {
      seen = request
      return { action: "accept", content: { a: "1" } }
    }
    expect(await answerTo(elicitation, { onElicitation })).toEqual(success({ action: "accept", content: { a: "1" } }))
    expect(seen).toMatchObject({ serverName: "n", message: "m", mode: "form", requestedSchema: { type: "object" } })
  })

  it("[Q16] a dialog is shown, or left to another host in silence", async () => {
    const dialog = { subtype: "request_user_dialog", dialog_kind: "k", payload: { p: 1 } }
    const onUserDialog: Options["onUserDialog"] = async ({ dialogKind, payload }) => ({
      behavior: "completed",
      result: { dialogKind, payload },
    })
    const expected = success({ behavior: "completed", result: { dialogKind: "k", payload: { p: 1 } } })
    expect(await answerTo(dialog, { onUserDialog })).toEqual(expected)

    const agent = fakeAgent([{ until: "user" }, { say: ask("q-1", dialog) }, { say: result() }])
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.answers()).toEqual({})
  })

  it("[Q17] a request of tomorrow is an error with a code", async () => {
    expect(await answerTo({ subtype: "of_tomorrow" }, {})).toEqual({
      ...failure("Unsupported control request subtype: of_tomorrow"),
      error_code: "unsupported_request",
    })
    expect(await answerTo({ subtype: "toString" }, {})).toMatchObject({ error_code: "unsupported_request" })
  })

  it("[Q15] a message for a server that is not here is an error", async () => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" }
    const expected = failure("SDK MCP server not found: gone")
    expect(await answerTo({ subtype: "mcp_message", server_name: "gone", message }, {})).toEqual(expected)
  })
})
