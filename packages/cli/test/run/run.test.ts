import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { claudeEnvironment, openScriptedApi, type Scenario } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { ensureClaude } from "../../../../scripts/claude-cli.mjs"
import { claudeVersionsNow } from "../../../../test/gate.ts"
import { permissionWords } from "../../src/asks/grants.ts"
import { atEnd, folder, run } from "../signalbox-process.ts"

function scenarioFile(scenario: Scenario): string {
  const file = join(folder(), "scenario.json")
  writeFileSync(file, JSON.stringify(scenario))
  return file
}

function sim(scenario: Scenario, ...more: string[]) {
  return run(["run", "--sim", "--cwd", folder(), "go", ...more], {
    env: { SIGNALBOX_SIM_SCENARIO: scenarioFile(scenario) },
  })
}

const asks: Scenario = {
  turns: [
    { steps: [{ say: "I try." }, { tool: "Bash", input: { command: "deploy" }, result: "ran" }, { say: "The end." }] },
  ],
}

describe("signalbox run, without a terminal", () => {
  it("[RT4] in a pipe prints the answer and nothing else; the prompt may come from one", async () => {
    const scenario = scenarioFile({ turns: [{ steps: [{ think: "hm" }, { say: "It is 42." }] }] })
    const args = ["run", "--sim", "--cwd", folder(), "-"]
    const ended = await run(args, { env: { SIGNALBOX_SIM_SCENARIO: scenario }, input: "What is it?" })
    expect(ended).toEqual({ code: 0, stdout: "It is 42.\n", stderr: "" })
  })

  it("[RT4] --json prints what the agent says, line by line, and no prose", async () => {
    const { code, stdout } = await sim(asks, "--json")
    const types = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type)
    expect(code).toBe(0)
    expect(types).toEqual(expect.arrayContaining(["system", "stream_event", "assistant", "user", "result"]))
  })

  it("[RT2] with nobody to ask a tool is denied, and it is said", async () => {
    const { code, stdout, stderr } = await sim(asks)
    expect([code, stdout]).toEqual([0, "The end.\n"])
    expect(stderr).toMatch(/^signalbox: Bash was denied: nobody is at the terminal/)
  })

  it("[RT7] a turn that fails exits 1; a prompt that is empty or missing exits 2", async () => {
    const failed = await sim({ turns: [{ steps: [{ error: 400 }] }] })
    expect(failed.code).toBe(1)
    expect((await run(["run", "  "])).code).toBe(2)
    expect((await run(["run", "-"], { input: "" })).code).toBe(2)
  })

  it("[RT7] without a claude it says how to get one, and how to do without", async () => {
    const ended = await run(["run", "hello"], { env: { PATH: folder() } })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/^signalbox: Claude Code not found: npm install -g .* signalbox run --sim\n$/)
  })

  it.each(claudeVersionsNow)("[RT4] runs the real CLI %s", async (version) => {
    const api = await openScriptedApi({ scenario: { turns: [{ steps: [{ say: "Real enough." }] }] } })
    atEnd(() => api.close())
    const [home, bin] = [join(folder(), "home"), folder()]
    mkdirSync(home)
    const { command, args } = await ensureClaude(version)
    const claude = join(bin, "claude")
    writeFileSync(claude, `#!/bin/sh\nexec ${[command, ...args].map((part) => `'${part}'`).join(" ")} "$@"\n`)
    chmodSync(claude, 0o755)
    const env = { ...claudeEnvironment({ home, apiUrl: api.url }), PATH: `${bin}:${process.env["PATH"]}` }
    const ended = await run(["run", "--cwd", folder(), "hello"], { env })
    expect(ended).toMatchObject({ code: 0, stdout: "Real enough.\n" })
  })

  it("[RT2] a standing permission is told in words, whatever it is", () => {
    const rules = [{ toolName: "Bash", ruleContent: "npm ci:*" }]
    const words = (update: unknown) => permissionWords(update)
    // The CLI repeats a rule for each line of a command.
    expect(words({ type: "addRules", rules: [...rules, ...rules], behavior: "allow", destination: "session" })).toBe(
      "allow Bash(npm ci:*), for this session",
    )
    expect(words({ type: "setMode", mode: "acceptEdits", destination: "userSettings" })).toBe(
      "switch to mode acceptEdits, in all projects on this machine",
    )
    expect(words({ type: "addDirectories", directories: ["/x\u202e"], destination: "odd" })).toBe(
      "trust /x<U+202E>, in odd",
    )
    expect(words(7)).toBe("an unknown permission")
  })
})
