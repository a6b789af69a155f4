import { existsSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { prewarm } from "../src/index.ts"
import { type FakeSettings, fakeAgent, hear, result, type Step } from "./fake-agent.ts"

const CLAIM = { cwd: "/there", session_id: "s-1", parked_ms: 5, sdk_mcp_settled: true, initialize: { commands: ["c"] } }
const answers: FakeSettings = { replies: { claim_session: CLAIM } }
const turn: Step[] = [{ until: "user" }, { say: result() }]

const requests = (agent: ReturnType<typeof fakeAgent>) =>
  agent.log().flatMap(({ line }) => (line === undefined ? [] : [line.request?.["subtype"] ?? line.type]))

describe("a process started ahead of its session", () => {
  it("[Q52] becomes a session: claim first, then the prompt; its folder goes with it", async () => {
    const agent = fakeAgent(turn, {}, answers)
    const spare = await prewarm({ options: agent.options })
    const running = spare.claim({ prompt: "hello", options: { cwd: "/there", title: "T" } })
    expect((await hear(running)).kinds).toEqual(["result/success"])
    expect(await spare.claimed).toEqual({ cwd: "/there", sessionId: "s-1", parkedMs: 5, sdkMcpSettled: true })
    await spare.exited
    expect(requests(agent)).toEqual(["initialize", "claim_session", "user"])
    const [started] = agent.log()
    expect(started?.argv).toContain("--await-claim")
    expect(existsSync(started?.cwd ?? "/")).toBe(false)
    expect(() => spare.claim({ prompt: "again", options: { cwd: "/" } })).toThrow("closed or has exited")
  })

  it("[Q52] the session's initialization takes the place of the first", async () => {
    const agent = fakeAgent(turn, {}, answers)
    const spare = await prewarm({ options: agent.options })
    const running = spare.claim({ prompt: "hello", options: { cwd: "/there" } })
    expect(await running.supportedCommands()).toEqual(["c"])
    await hear(running)
  })

  it("[Q52] settings go ahead of the claim or behind it, and the prompt waits for them", async () => {
    const agent = fakeAgent(turn, {}, answers)
    const spare = await prewarm({ options: agent.options })
    const settings = { effortLevel: "high" as const, permissions: { deny: ["Bash"] } }
    const options = { cwd: "/there", settings, model: "m", maxThinkingTokens: 5 }
    await hear(spare.claim({ prompt: "hello", options }))
    await spare.claimed
    expect(requests(agent)).toEqual([
      "initialize",
      "apply_flag_settings",
      "claim_session",
      "apply_flag_settings",
      "set_model",
      "set_max_thinking_tokens",
      "user",
    ])
  })

  it("[Q52] refused settings: the prompt is never sent", async () => {
    const agent = fakeAgent(turn, {}, { ...answers, refuse: { apply_flag_settings: "no such thing" } })
    const spare = await prewarm({ options: agent.options })
    const running = spare.claim({
      prompt: "hello",
      options: { cwd: "/there", settings: { permissions: { deny: ["Bash"] } } },
    })
    await expect(spare.claimed).rejects.toMatchObject({ code: "spare/refused", claim: { sessionId: "s-1" } })
    expect(await hear(running)).toEqual({ kinds: [], messages: [] })
    await spare.exited
    expect(requests(agent)).not.toContain("user")
  })

  it("[Q52] a refused claim, a refused option, settings about hooks and a closed spare are told apart", async () => {
    const refusing = fakeAgent(turn, {}, { refuse: { claim_session: "cwd_not_found: no" } })
    const first = await prewarm({ options: refusing.options })
    const running = first.claim({ prompt: "hello", options: { cwd: "/there" } })
    await expect(first.claimed).rejects.toThrow("cwd_not_found: no")
    await hear(running)
    const picky = await prewarm({ options: fakeAgent(turn, {}, { ...answers, refuse: { set_model: "no" } }).options })
    await hear(picky.claim({ prompt: "hello", options: { cwd: "/there", model: "m" } }))
    await expect(picky.claimed).rejects.toThrow("option_not_applied: model: no")
    const spare = await prewarm({ options: fakeAgent([]).options })
    const withHooks = { cwd: "/", settings: { hooks: {} } }
    expect(() => spare.claim({ prompt: "x", options: withHooks })).toThrow("hook settings (hooks)")
    await spare[Symbol.asyncDispose]()
    await expect(spare.claimed).rejects.toMatchObject({ code: "spare/closed" })
  })

  it("[Q52] one that does not get ready leaves nothing behind", async () => {
    const silent = fakeAgent([], {}, { mute: ["initialize"] })
    const started = prewarm({ options: silent.options, initializeTimeoutMs: 50 })
    await expect(started).rejects.toMatchObject({ code: "startup/timeout" })
    expect(silent.log().every(({ cwd }) => cwd === undefined || !existsSync(cwd))).toBe(true)
  })
})
