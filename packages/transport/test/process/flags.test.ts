import { describe, expect, it } from "vitest"
import { type ClaudeFlags, claudeArguments } from "../../src/process/flags.ts"

const ALWAYS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]

/** Options, and what follows the flags that are always there, in the separate style. */
const TABLE: readonly (readonly [ClaudeFlags, readonly string[]])[] = [
  [{}, []],
  [{ model: "opus" }, ["--model", "opus"]],
  [{ model: undefined }, []],
  [{ fallbackModel: "sonnet" }, ["--fallback-model", "sonnet"]],
  [{ agent: "reviewer" }, ["--agent", "reviewer"]],
  [{ maxTurns: 3 }, ["--max-turns", "3"]],
  [{ maxBudgetUsd: 0.5 }, ["--max-budget-usd", "0.5"]],
  [{ maxThinkingTokens: 0 }, ["--max-thinking-tokens", "0"]],
  [{ thinking: { type: "adaptive" } }, ["--thinking", "adaptive"]],
  [{ thinking: { type: "disabled" } }, ["--thinking", "disabled"]],
  [{ thinking: { type: "enabled" } }, ["--thinking", "adaptive"]],
  [{ thinking: { type: "enabled", budgetTokens: 9 } }, ["--max-thinking-tokens", "9"]],
  [{ thinking: { type: "disabled" }, maxThinkingTokens: 5 }, ["--thinking", "disabled"]],
  [{ thinkingDisplay: "summarized" }, ["--thinking-display", "summarized"]],
  [{ effort: "high" }, ["--effort", "high"]],
  [{ taskBudget: { total: 100 } }, ["--task-budget", "100"]],
  [{ betas: [] }, []],
  [{ betas: ["a", "b"] }, ["--betas", "a", "--betas", "b"]],
  [{ jsonSchema: { type: "object" } }, ["--json-schema", '{"type":"object"}']],
  [{ debug: true }, ["--debug"]],
  [{ debug: false }, []],
  [{ debug: true, debugFile: "/tmp/log" }, ["--debug-file", "/tmp/log"]],
  [{ debugToStderr: true }, ["--debug-to-stderr"]],
  [{ permissionPromptTool: "stdio" }, ["--permission-prompt-tool", "stdio"]],
  [{ permissionPrompts: "none" }, ["--permission-prompts", "none"]],
  [{ permissionMode: "plan" }, ["--permission-mode", "plan"]],
  [{ allowDangerouslySkipPermissions: true }, ["--allow-dangerously-skip-permissions"]],
  [{ continue: true }, ["--continue"]],
  [{ resume: "s-1" }, ["--resume", "s-1"]],
  [{ forkSession: true }, ["--fork-session"]],
  [{ resumeSessionAt: "m-1" }, ["--resume-session-at", "m-1"]],
  [{ resumeDropsTurn: "m-2" }, ["--resume-drops-turn", "m-2"]],
  [{ sessionId: "s-2" }, ["--session-id", "s-2"]],
  [{ persistSession: false }, ["--no-session-persistence"]],
  [{ persistSession: true }, []],
  [{ allowedTools: ["Read", "Bash(git *)"] }, ["--allowedTools", "Read,Bash(git *)"]],
  [{ allowedTools: [] }, []],
  [{ disallowedTools: ["Write"] }, ["--disallowedTools", "Write"]],
  [{ tools: ["Read", "Edit"] }, ["--tools", "Read,Edit"]],
  [{ tools: [] }, ["--tools", ""]],
  [{ tools: { type: "preset", preset: "default" } }, ["--tools", "default"]],
  [{ mcpConfig: { mcpServers: {} } }, ["--mcp-config", '{"mcpServers":{}}']],
  [{ mcpConfig: "/etc/mcp.json" }, ["--mcp-config", "/etc/mcp.json"]],
  [{ strictMcpConfig: true }, ["--strict-mcp-config"]],
  [{ settingSources: ["user", "project"] }, ["--setting-sources", "user,project"]],
  [{ settingSources: [] }, ["--setting-sources", ""]],
  [{ settings: { a: 1 } }, ["--settings", '{"a":1}']],
  [{ settings: "/etc/settings.json" }, ["--settings", "/etc/settings.json"]],
  [{ sandbox: { enabled: true } }, ["--settings", '{"sandbox":{"enabled":true}}']],
  [{ settings: { a: 1 }, sandbox: { b: 2 } }, ["--settings", '{"a":1,"sandbox":{"b":2}}']],
  [{ settings: '{"a":1}', sandbox: { b: 2 } }, ["--settings", '{"a":1,"sandbox":{"b":2}}']],
  [{ sandbox: { b: 2 }, extraArgs: { settings: '{"c":3}' } }, ["--settings", '{"c":3,"sandbox":{"b":2}}']],
  [{ managedSettings: { m: 1 } }, ["--managed-settings", '{"m":1}']],
  [{ projectConfigRoot: "/p" }, ["--project-config-root", "/p"]],
  [{ additionalDirectories: ["/a", "/b"] }, ["--add-dir", "/a", "--add-dir", "/b"]],
  [{ pluginDirs: ["/p1", "/p2"] }, ["--plugin-dir", "/p1", "--plugin-dir", "/p2"]],
  [{ pluginDirsNoMcp: ["/p3"] }, ["--plugin-dir-no-mcp", "/p3"]],
  [{ channels: ["server:a", "server:b"] }, ["--channels", "server:a", "--channels", "server:b"]],
  [{ includePartialMessages: true }, ["--include-partial-messages"]],
  [{ includeHookEvents: true }, ["--include-hook-events"]],
  [{ replayUserMessages: true }, ["--replay-user-messages"]],
  [{ sessionMirror: true }, ["--session-mirror"]],
  [{ awaitInitialize: true }, ["--await-initialize"]],
  [{ systemPrompt: "be brief" }, ["--system-prompt", "be brief"]],
  [{ appendSystemPrompt: "and kind" }, ["--append-system-prompt", "and kind"]],
  [{ sdkUrl: "ws://127.0.0.1:1/ws" }, ["--sdk-url", "ws://127.0.0.1:1/ws"]],
  [{ print: true }, ["--print"]],
  [{ extraArgs: { chrome: null, name: "n" } }, ["--chrome", "--name", "n"]],
]

describe("claudeArguments", () => {
  it.each(TABLE)("[P1] %j becomes %j, after the three flags that are always there", (flags, expected) => {
    expect(claudeArguments(flags)).toEqual([...ALWAYS, ...expected])
  })

  it("[P1] in the equals style each value is tied to its flag, an empty one too", () => {
    expect(claudeArguments({ style: "equals", model: "opus", settingSources: [], continue: true })).toEqual([
      ...ALWAYS,
      "--model=opus",
      "--continue",
      "--setting-sources=",
    ])
  })

  it.each(["separate", "equals"] as const)(
    "[P2] a value that begins with a dash is tied to its flag, so that it is never taken for one (%s)",
    (style) => {
      const flags: ClaudeFlags = {
        style,
        resume: "--dangerously-skip-permissions",
        maxTurns: -1,
        additionalDirectories: ["-x"],
        extraArgs: { name: "-n" },
      }
      expect(claudeArguments(flags).slice(ALWAYS.length)).toEqual([
        "--max-turns=-1",
        "--resume=--dangerously-skip-permissions",
        "--add-dir=-x",
        "--name=-n",
      ])
    },
  )

  it("[P2] every argument is a known flag, its own value, or both in one", () => {
    for (const [flags] of TABLE) {
      for (const argument of claudeArguments({ ...flags, style: "equals" }).slice(ALWAYS.length)) {
        expect(argument).toMatch(/^--[A-Za-z]/)
      }
    }
  })

  it("[P1] extra arguments come last, and so win", () => {
    const args = claudeArguments({ extraArgs: { model: "mine" }, model: "theirs", print: true })
    expect(args.slice(ALWAYS.length)).toEqual(["--print", "--model", "theirs", "--model", "mine"])
  })

  it.each(["", "--model", "a b", "a=b", "-p"])("[P2] extraArgs refuses %j as the name of a flag", (name) => {
    expect(() => claudeArguments({ extraArgs: { [name]: null } })).toThrow(/not the name of a flag/)
  })

  it("[P1] a number that is none is refused, and so is a sandbox beside a settings file", () => {
    expect(() => claudeArguments({ maxTurns: Number.NaN })).toThrow(/--max-turns takes a number/)
    expect(() => claudeArguments({ settings: "/s.json", sandbox: {} })).toThrow(/cannot be merged .*\/s\.json/)
  })
})
