import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { claudeEnvironment, openScriptedApi, type Scenario } from "@signalbox/simulator"
import { describe, expect, it, onTestFinished } from "vitest"
import { ensureClaude } from "../../../scripts/claude-cli.mjs"
import { type Options, query, type SDKUserMessage } from "../src/index.ts"
import { hear } from "./fake-agent.ts"

const NEWEST = "2.1.325"

async function realAgent(scenario: Scenario, options: Options = {}, version = NEWEST) {
  const claude = await ensureClaude(version)
  const folder = mkdtempSync(join(tmpdir(), "signalbox-sdk-"))
  const [home, cwd] = [join(folder, "home"), join(folder, "project")]
  for (const each of [home, cwd]) mkdirSync(each)
  const api = await openScriptedApi({ scenario })
  onTestFinished(async () => {
    await api.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const path = claude.args[0] ?? claude.command
  const env = claudeEnvironment({ home, apiUrl: api.url })
  return {
    api,
    cwd,
    options: { pathToClaudeCodeExecutable: path, cwd, env, settingSources: [], ...options } satisfies Options,
  }
}

describe("with the real CLI", () => {
  it.each([NEWEST, "2.1.37"])("[Q1] a turn of %s, with a permission asked and given", async (version) => {
    const asked: string[] = []
    const { cwd, options } = await realAgent(
      { turns: [{ steps: [{ tool: "Bash", input: { command: "touch made" } }, { say: "Made." }] }] },
      {
        canUseTool: async (name) => {
          asked.push(name)
          return { behavior: "allow" }
        },
      },
      version,
    )
    const { messages, error } = await hear(query({ prompt: "make it", options }))
    expect(error).toBeUndefined()
    expect(asked).toEqual(["Bash"])
    expect(existsSync(join(cwd, "made"))).toBe(true)
    expect(messages.at(-1)).toMatchObject({ type: "result", subtype: "success", result: "Made." })
  })

  it("[Q22] a question in the turn that a background task brings about, long after the first result", async () => {
    const asked: unknown[] = []
    const { cwd, options } = await realAgent(
      {
        turns: [
          {
            steps: [
              { tool: "Bash", input: { command: "sleep 1; echo done", run_in_background: true } },
              { say: "It runs." },
              { tool: "Bash", input: { command: "touch late" } },
              { say: "It is done." },
            ],
          },
        ],
      },
      {
        canUseTool: async (_name, input) => {
          asked.push(input["command"])
          return { behavior: "allow" }
        },
      },
    )
    const { kinds, error } = await hear(query({ prompt: "run it", options }))
    expect(error).toBeUndefined()
    expect(kinds.filter((kind) => kind === "result/success").length).toBeGreaterThanOrEqual(2)
    expect(asked).toContain("touch late")
    expect(existsSync(join(cwd, "late"))).toBe(true)
  })

  it("[Q2] a chat: each message when the last is answered", async () => {
    const { options } = await realAgent({ turns: [{ steps: [{ say: "one" }] }, { steps: [{ say: "two" }] }] })
    const waiting: (() => void)[] = []
    const say = (text: string): SDKUserMessage => ({
      type: "user",
      message: { role: "user", content: text },
      parent_tool_use_id: null,
    })
    async function* prompt() {
      yield say("first")
      await new Promise<void>((resolve) => waiting.push(resolve))
      yield say("second")
    }
    const heard: string[] = []
    for await (const message of query({ prompt: prompt(), options })) {
      if (message.type !== "result" || message.subtype !== "success") continue
      heard.push(message.result)
      waiting.shift()?.()
    }
    expect(heard).toEqual(["one", "two"])
  })

  it("[Q9] a mode that is set once the agent is ready is the mode of the first message", async () => {
    const { options } = await realAgent({ turns: [{ steps: [{ say: "one" }] }] })
    const running = query({ prompt: "hello", options })
    await running.initializationResult()
    await running.setPermissionMode("plan")
    const { messages } = await hear(running)
    expect(messages.find((said) => said.type === "system" && said.subtype === "init")).toMatchObject({
      permissionMode: "plan",
    })
  })

  it("[Q36] a request that 2.1.37 does not know, and says nothing to, fails by its name", async () => {
    const { api, options } = await realAgent(
      { turns: [{ steps: [{ hang: true }] }] },
      { controlTimeoutMs: 500 },
      "2.1.37",
    )
    const running = query({ prompt: "hello", options })
    const heard = hear(running)
    await api.untilHanging()
    const details = { subtype: "get_usage", timeoutMs: 500, version: "2.1.37" }
    await expect(running.control({ subtype: "get_usage" })).rejects.toMatchObject({ code: "request/timeout", details })
    await running.return()
    await heard
  })

  it("[Q33] what an agent says of itself, and an interrupt", async () => {
    const { api, options } = await realAgent({ turns: [{ steps: [{ hang: true }] }] })
    const running = query({ prompt: "wait", options })
    const heard = hear(running)
    expect((await running.supportedModels()).length).toBeGreaterThan(0)
    expect(await running.accountInfo()).toMatchObject({})
    await api.untilHanging()
    expect(await running.interrupt()).toEqual({ still_queued: [] })
    const { kinds, error } = await heard
    expect(kinds.at(-1)).toBe("result/error_during_execution")
    expect(error).toMatchObject({ code: "result/error" })
  })
})
