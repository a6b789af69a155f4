import { describe, expect, it } from "vitest"
import { hubLaunchOptions } from "../../src/hub/attach-to-hub.ts"
import { createSdkMcpServer, type Options, query, SdkError } from "../../src/index.ts"
import { hubOptionProblem } from "../../src/launch/check-options.ts"
import { OPTION_TABLE } from "../../src/launch/option-kinds.ts"

const hub = { url: "http://127.0.0.1:9", token: "t", session: "s" }

describe("options of a query on a hub", () => {
  it.each<[string, Options]>([
    ["cwd", { cwd: "/" }],
    ["env", { env: {} }],
    ["pathToClaudeCodeExecutable", { pathToClaudeCodeExecutable: "/claude" }],
    ["executable", { executable: "node" }],
    ["stderr", { stderr: () => undefined }],
    ["resume", { resume: "x" }],
    ["systemPrompt", { systemPrompt: "x" }],
    ["mcpServers", { mcpServers: { files: { command: "files" } } }],
    ["hub", { hub: { ...hub, after: -1 } }],
    ["hub", { hub: { ...hub, patienceMs: -1 } }],
  ])("[Q78] %s is refused by name, by query() itself", (option, options) => {
    const start = () => query({ prompt: "hello", options: { hub, ...options } })
    expect(start).toThrow(SdkError)
    expect(start).toThrow(expect.objectContaining({ code: "sdk/bad-option", details: { option } }))
  })

  it("[Q78] every option that says something about a process is refused, and no callback is", () => {
    const refused = Object.entries(OPTION_TABLE)
      .filter(([name]) => hubOptionProblem({ hub, [name]: name === "hub" ? hub : {} }) !== undefined)
      .map(([name]) => name)
    const { canUseTool: _c, hooks: _h, mcpServers: _m, ...others } = OPTION_TABLE
    const ofTheProcess = Object.entries(others)
      .filter(
        ([name, places]) =>
          places.some((place) => place === "flag" || place === "environment" || place === "process") &&
          !["abortController", "includeHookEvents", "includePartialMessages", "model", "permissionMode"].includes(name),
      )
      .map(([name]) => name)
    expect(refused).toEqual(expect.arrayContaining(ofTheProcess))
    expect(refused).not.toContain("onElicitation")
  })

  it("[Q78] at a launch the hub takes what it can pass on, and is told it as a process here would be", () => {
    const options: Options = {
      hub: { url: hub.url, token: "t" },
      systemPrompt: { type: "preset", preset: "claude_code", append: "More." },
      agents: { a: { description: "d", prompt: "p" } },
      outputFormat: { type: "json_schema", schema: { type: "object" } },
      maxTurns: 3,
      maxThinkingTokens: 2000,
      allowedTools: ["Read"],
      settingSources: [],
      mcpServers: { mine: createSdkMcpServer({ name: "mine" }), files: { command: "files" } },
    }
    expect(hubOptionProblem(options)).toBeUndefined()
    expect(hubLaunchOptions(options)).toEqual({
      appendSystemPrompt: "More.",
      agents: { a: { description: "d", prompt: "p" } },
      outputFormat: { type: "json_schema", schema: { type: "object" } },
      maxTurns: 3,
      thinking: { type: "enabled", budgetTokens: 2000 },
      allowedTools: ["Read"],
      settingSources: [],
      mcpServers: { files: { command: "files" } },
    })
    expect(hubLaunchOptions({})).toEqual({ systemPrompt: "" })
    expect(hubLaunchOptions({ systemPrompt: ["a", "b"] })).toEqual({ systemPrompt: "a\n\nb" })
    const dynamic = { type: "preset", preset: "claude_code", excludeDynamicSections: true } as const
    expect(hubOptionProblem({ ...options, systemPrompt: dynamic })?.message).toContain(
      "systemPrompt.excludeDynamicSections",
    )
  })

  it("[Q78] servers of the program are no problem, nor is what a hub can be told at a launch", () => {
    expect(hubOptionProblem({ hub, mcpServers: { mine: createSdkMcpServer({ name: "mine" }) } })).toBeUndefined()
    expect(hubOptionProblem({ hub: { url: hub.url, token: "t" }, cwd: "/", resume: "x", title: "T" })).toBeUndefined()
    expect(hubOptionProblem({ hub: { url: hub.url, token: "t" }, env: {} })?.details).toEqual({ option: "env" })
  })
})
