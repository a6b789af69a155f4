import { describe, expect, it } from "vitest"
import { type Options, query, SdkError } from "../src/index.ts"
import { givenOptions } from "../src/launch/check-options.ts"
import { environmentFor } from "../src/launch/executable.ts"
import { argumentsFor } from "../src/launch/flags.ts"
import { initializeRequest } from "../src/launch/initialize.ts"
import { OPTION_TABLE } from "../src/launch/option-kinds.ts"
import { fakeAgent, hear, result } from "./fake-agent.ts"

const ALWAYS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
const argv = (options: Options) => argumentsFor(options).slice(ALWAYS.length)
const initialize = (options: Options) =>
  JSON.parse(JSON.stringify(initializeRequest(options, { hooks: undefined, servers: {} })))

describe("options", () => {
  it("[Q3] every official option has its place, and ours are three", () => {
    const ours = ["controlTimeoutMs", "hub", "permissionTimeoutMs"]
    const names = Object.keys(OPTION_TABLE).filter((name) => !ours.includes(name))
    expect(names).toHaveLength(69)
  })

  it.each<[Options, string[]]>([
    [{}, []],
    [{ model: "m", maxTurns: 3 }, ["--max-turns=3", "--model=m"]],
    [{ maxThinkingTokens: 0 }, ["--thinking=disabled"]],
    [{ maxThinkingTokens: 9 }, ["--max-thinking-tokens=9"]],
    [{ thinking: { type: "enabled" } }, ["--thinking=adaptive"]],
    [
      { thinking: { type: "enabled", budgetTokens: 5, display: "omitted" } },
      ["--max-thinking-tokens=5", "--thinking-display=omitted"],
    ],
    [{ canUseTool: async () => null }, ["--permission-prompt-tool=stdio"]],
    [{ permissionPromptToolName: "mcp__a__b" }, ["--permission-prompt-tool=mcp__a__b"]],
    [{ settingSources: [] }, ["--setting-sources="]],
    [{ settingSources: ["user", "project"] }, ["--setting-sources=user,project"]],
    [{ tools: [] }, ["--tools="]],
    [{ tools: { type: "preset", preset: "claude_code" } }, ["--tools=default"]],
    [{ allowedTools: ["A"], skills: ["x"] }, ["--allowedTools=A,Skill(x)"]],
    [{ skills: "all" }, ["--allowedTools=Skill"]],
    [{ debug: true, debugFile: "/f" }, ["--debug-file=/f"]],
    [{ persistSession: false }, ["--no-session-persistence"]],
    [
      {
        mcpServers: {
          s: { command: "x" },
          p: { type: "sdk", name: "p", instance: { connect: async () => undefined } },
        },
      },
      ["--mcp-config", '{"mcpServers":{"s":{"command":"x"}}}'],
    ],
    [
      { settings: { a: 1 }, sandbox: { enabled: true } },
      ["--settings", '{"a":1,"sandbox":{"enabled":true,"failIfUnavailable":true}}'],
    ],
    [
      { settings: { sandbox: { enabled: false, excludedCommands: ["x"] } }, sandbox: { enabled: true } },
      ["--settings", '{"sandbox":{"enabled":true,"excludedCommands":["x"],"failIfUnavailable":true}}'],
    ],
    [{ allowedTools: ["Skill(x)"], skills: ["x", "y"] }, ["--allowedTools=Skill(x),Skill(y)"]],
    [{ sandbox: { enabled: false } }, ["--settings", '{"sandbox":{"enabled":false}}']],
    [{ extraArgs: { foo: "1", bar: null }, settings: "/s.json" }, ["--foo", "1", "--bar", "--settings", "/s.json"]],
    [{ extraArgs: { settings: "{}", model: "n" }, settings: { b: 1 } }, ["--settings", '{"b":1}', "--model", "n"]],
    [{ plugins: [{ type: "local", path: "/p" }] }, ["--plugin-dir=/p"]],
    [{ plugins: [{ type: "local", path: "/p" }], pluginDelivery: "initialize" }, ["--await-initialize"]],
  ])("[Q3] %j is written as the official package writes it", (options, expected) => {
    expect(argv(options)).toEqual(expected)
  })

  it("[Q7] options that say nothing are absent", () => {
    // What a program in JavaScript passes.
    const computed = { model: "", resume: "", sessionId: null, hooks: null, maxTurns: 0, title: "", maxBudgetUsd: 0 }
    expect(givenOptions(JSON.parse(JSON.stringify(computed)))).toEqual({ title: "", maxBudgetUsd: 0 })
  })

  it("[Q4] the environment is the program's if it gives one, and says which wire we speak", () => {
    const env = environmentFor({ env: { MINE: "1", NODE_OPTIONS: "x", SIGNALBOX_TOKEN: "t" } }, { isWarm: false })
    expect(env).toEqual({
      MINE: "1",
      CLAUDE_CODE_ENTRYPOINT: "sdk-ts",
      CLAUDE_AGENT_SDK_VERSION: "0.3.325",
      CLAUDE_CODE_SDK_READS_SESSION_STATE: "1",
    })
    const options: Options = {
      env: {},
      enableFileCheckpointing: true,
      toolConfig: { askUserQuestion: { previewFormat: "html" } },
    }
    expect(environmentFor(options, { isWarm: true })).toMatchObject({
      CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true",
      CLAUDE_CODE_QUESTION_PREVIEW_FORMAT: "html",
      CLAUDE_CODE_SDK_READS_STARTUP_MARKS: "1",
    })
  })

  it("[Q4] what it says itself of the wire is left as it is", () => {
    const env = {
      CLAUDE_AGENT_SDK_VERSION: "9.9.9",
      CLAUDE_CODE_SDK_READS_SESSION_STATE: "0",
      DEBUG_CLAUDE_AGENT_SDK: "0",
    }
    expect(environmentFor({ env }, { isWarm: false })).toEqual({ ...env, CLAUDE_CODE_ENTRYPOINT: "sdk-ts" })
    expect(environmentFor({ env: { DEBUG_CLAUDE_AGENT_SDK: "TRUE" } }, { isWarm: false })["DEBUG"]).toBe("1")
  })

  it.each<[Options["systemPrompt"], object]>([
    [undefined, { systemPrompt: "" }],
    ["be brief", { systemPrompt: "be brief" }],
    [["a", "b"], { systemPrompt: "a\n\nb" }],
    [["", "b"], { systemPrompt: "b" }],
    [{ type: "custom", prompt: "be brief" }, { systemPrompt: "be brief" }],
    [
      { type: "custom", prompt: ["a", "b"], snapshot: true },
      { systemPrompt: "a\n\nb", systemPromptSnapshot: true },
    ],
    [{ type: "preset", preset: "claude_code", snapshot: false }, { systemPromptSnapshot: false }],
    [[], { systemPrompt: [] }],
    [
      ["a", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "b"],
      { systemPrompt: ["a", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "b"] },
    ],
    [{ type: "preset", preset: "claude_code" }, {}],
    [{ type: "preset", preset: "claude_code", append: "and" }, { appendSystemPrompt: "and" }],
  ])("[Q5] the system prompt %j", (systemPrompt, expected) => {
    expect(initialize({ systemPrompt })).toEqual({ subtype: "initialize", ...expected })
  })

  it("[Q5] what the first request carries", () => {
    const options: Options = {
      title: "T",
      skills: ["x"],
      agents: { a: { description: "d", prompt: "p" } },
      outputFormat: { type: "json_schema", schema: { type: "object" } },
      promptSuggestions: true,
      supportedDialogKinds: ["k"],
      plugins: [{ type: "local", path: "/p" }],
      pluginDelivery: "initialize",
    }
    expect(initialize(options)).toEqual({
      subtype: "initialize",
      systemPrompt: "",
      title: "T",
      skills: ["x"],
      agents: { a: { description: "d", prompt: "p" } },
      jsonSchema: { type: "object" },
      promptSuggestions: true,
      supportedDialogKinds: ["k"],
      plugins: [{ type: "local", path: "/p" }],
    })
  })

  it.each<[string, Options]>([
    ["sdk/bad-option", { sessionStore: { append: async () => undefined, load: async () => null }, continue: true }],
    ["sdk/bad-option", { canUseTool: async () => null, permissionPromptToolName: "x" }],
    ["sdk/bad-option", { fallbackModel: "m", model: "m" }],
    ["sdk/bad-option", { sandbox: { enabled: true }, settings: "/file.json" }],
    ["sdk/bad-option", { supportedDialogKinds: ["k"] }],
    ["sdk/bad-option", { permissionTimeoutMs: 0 }],
    ["sdk/bad-option", { maxBudgetUsd: Number.NaN }],
    ["sdk/bad-option", { maxThinkingTokens: Number.NaN }],
    ["sdk/bad-option", { extraArgs: { "--model": "m" } }],
    ["sdk/bad-option", untyped({ maxTurns: "many" })],
    ["sdk/bad-option", untyped({ additionalDirectories: "/folder" })],
    ["sdk/bad-option", untyped({ allowedTools: "Bash" })],
    ["sdk/bad-option", untyped({ abortController: {} })],
    ["sdk/bad-option", untyped({ hooks: { Stop: { hooks: [] } } })],
    ["sdk/bad-option", untyped({ hooks: { Stop: [{ matcher: "Bash" }] } })],
    ["sdk/bad-option", untyped({ mcpServers: { s: undefined } })],
    ["sdk/bad-option", untyped({ spawnClaudeCodeProcess: () => undefined })],
    ["sdk/bad-option", untyped({ spawnClaudeCodeProcess: () => Promise.reject(new Error("late")) })],
  ])("[Q6] what can never work is refused by name with %s before anything starts", (code, options) => {
    const agent = fakeAgent([], options)
    const start = () => query({ prompt: "hello", options: agent.options })
    expect(start).toThrow(SdkError)
    expect(start).toThrow(expect.objectContaining({ code, details: { option: Object.keys(options)[0] } }))
    expect(agent.log()).toEqual([])
  })

  it("[Q6] a query without its one argument is refused, too", () => {
    for (const given of [[], ["hello"], [null]])
      expect(() => Reflect.apply(query, undefined, given)).toThrow(expect.objectContaining({ code: "sdk/bad-option" }))
  })

  it("[Q3] flags, folder and environment reach the process", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: result() }], { model: "m", cwd: "/" })
    await hear(query({ prompt: "hello", options: agent.options }))
    const [started] = agent.log()
    expect(started?.argv).toEqual([...ALWAYS, "--model=m"])
    expect(started?.cwd).toBe("/")
  })
})

// A program without types passes what it likes.
function untyped(options: Record<string, unknown>): Options
function untyped(options: Record<string, unknown>): unknown {
  return options
}
