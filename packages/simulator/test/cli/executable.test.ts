import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { composeAllow, composeUserMessage, decode, type Envelope, encode, fieldOf } from "@signalbox/protocol"
import { type ChildTransport, claudeArguments, openChildProcess } from "@signalbox/transport"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { parseArguments } from "../../src/cli/launch-from-argv.ts"

const bin = fileURLToPath(new URL("../../bin/claude-sim.mjs", import.meta.url))

describe("claude-sim", () => {
  let folder = ""
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-claude-sim-")))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function start(args: readonly string[], env: Record<string, string> = {}): Promise<ChildTransport> {
    return openChildProcess({
      command: process.execPath,
      args: [bin, ...args],
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, SIGNALBOX_SIM_SPEED: "max", ...env },
    })
  }

  const scenario = (value: unknown) => {
    const file = join(folder, "scenario.yaml")
    writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value))
    return file
  }
  const flags = claudeArguments({ permissionPromptTool: "stdio" })

  async function read(child: ChildTransport, onMessage: (message: Envelope) => void): Promise<Envelope[]> {
    const seen: Envelope[] = []
    for await (const line of child.lines) {
      const decoded = decode(line, "agent")
      if (decoded.kind === "malformed") throw new Error(decoded.reason)
      const message: Envelope = { ...decoded.message }
      seen.push(message)
      onMessage(message)
    }
    return seen
  }

  it("[A27] plays a turn with a permission over stdio and ends with its input", async () => {
    const turns = [{ steps: [{ tool: "Bash", input: { command: "npm test" }, result: "12 passed" }, { say: "Good." }] }]
    const child = await start([...flags, "--scenario", scenario({ turns })])
    await child.send(encode(composeUserMessage("test it")))
    const seen = await read(child, (message) => {
      const request = fieldOf(message, "request")
      if (message.type === "control_request" && request !== undefined) {
        const question = {
          request_id: String(message["request_id"]),
          request: { input: fieldOf(request, "input") ?? {} },
        }
        void child.send(encode(composeAllow(question)))
      }
      if (message.type === "result") child.endInput()
    })
    expect(seen.at(-1)).toMatchObject({ type: "result", result: "Good." })
    expect((await child.closed).error).toBeUndefined()
  })

  it("[A27] denies what is asked when its input ends, finishes the turn, and ends in order", async () => {
    const turns = [{ steps: [{ tool: "Bash", input: { command: "npm test" } }, { say: "Then not." }] }]
    const child = await start([...flags, `--scenario=${scenario({ turns })}`])
    await child.send(encode(composeUserMessage("test it")))
    const seen = await read(child, (message) => {
      if (message.type === "control_request") child.endInput()
    })
    expect(JSON.stringify(seen)).toContain("Tool permission stream closed before response received")
    expect(seen.at(-1)).toMatchObject({ result: "Then not." })
    expect((await child.closed).error).toBeUndefined()
  })

  it("[A28] waits for a task after its input has ended, and runs the turn that follows it", async () => {
    const run = { run_in_background: true, command: "sleep 1", description: "wait" }
    const turns = [
      { steps: [{ tool: "Bash", input: run, background: { durationMs: 20 } }, { say: "Started." }] },
      { steps: [{ say: "It is over." }] },
    ]
    const child = await start([...flags, "--scenario", scenario({ turns }), "--speed", "1"])
    await child.send(encode(composeUserMessage("go")))
    child.endInput()
    const seen = await read(child, () => undefined)
    const kinds = seen.map((message) => message["subtype"] ?? message.type)
    expect(kinds).toEqual(expect.arrayContaining(["task_started", "task_updated", "task_notification"]))
    expect(seen.filter(({ type }) => type === "result").map(({ result }) => result)).toEqual([
      "Started.",
      "It is over.",
    ])
  })

  it("[A28] exits 1 when its last result was an error, and 143 when it is told to go", async () => {
    const failing = await start([...flags, "--scenario", scenario({ turns: [{ steps: [{ error: 400 }] }] })])
    await failing.send(encode(composeUserMessage("go")))
    failing.endInput()
    await read(failing, () => undefined)
    expect((await failing.closed).error).toMatchObject({ details: { exitCode: 1 } })
    const hanging = await start([...flags, "--scenario", scenario({ turns: [{ steps: [{ hang: true }] }] })])
    await hanging.send(encode(composeUserMessage("go")))
    await read(hanging, () => {
      if (hanging.pid !== undefined) process.kill(hanging.pid, "SIGTERM")
    })
    expect((await hanging.closed).error).toMatchObject({ details: { exitCode: 143 } })
  })

  it("[A29] takes its own settings from variables, for hosts that write the command line", async () => {
    const env = { SIGNALBOX_SIM_PROFILE: "2.1.37", SIGNALBOX_SIM_SEED: "1" }
    const child = await start([...flags, "--no-such-flag"], env)
    await child.send(encode(composeUserMessage("hi")))
    child.endInput()
    const seen = await read(child, () => undefined)
    expect(seen[0]).toMatchObject({ subtype: "init", claude_code_version: "2.1.37" })
    // A process's stderr may be read after the end of its stdout.
    await child.closed
    expect(child.stderrTail()).toContain("--no-such-flag")
  })

  it.each([
    [["--session-id", "x"], "Error: Invalid session ID. Must be a valid UUID."],
    [
      ["--permission-mode", "sometimes"],
      "Allowed choices are acceptEdits, auto, bypassPermissions, dontAsk, manual, plan.",
    ],
    [["--profile", "2.1.37", "--permission-mode", "sometimes"], "bypassPermissions, default, delegate, dontAsk, plan."],
    [["--max-turns", "many"], "argument 'many' is invalid. must be a number"],
    [["--json-schema", "{bad"], "Error: --json-schema is not valid JSON"],
  ])("[A25] refuses %j in the CLI's words", async (args, words) => {
    const child = await start([...flags, ...args])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(child.stderrTail()).toContain(words)
  })

  it("[A29] says of a prompt on the command line that it is not played", async () => {
    const child = await start([...flags, "hello"])
    child.endInput()
    await child.closed
    expect(child.stderrTail()).toContain("messages come as stream-json on stdin")
  })

  it("[N5] says file, line and what is wrong of a scenario that is wrong, and exits 1", async () => {
    const file = scenario("turns:\n  - steps:\n      - say: hello\n      - tool: Bash\n")
    const child = await start([...flags, "--scenario", file])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(child.stderrTail()).toContain(`${file}:4: turns[0].steps[1].input:`)
  })

  it("[A29] refuses, as the newest CLI does, to dial an address that is not its vendor's", async () => {
    const child = await start(["--sdk-url", "ws://127.0.0.1:9/x"])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(child.stderrTail()).toContain("--sdk-url rejected")
  })
})

describe("the command line", () => {
  it("[A29] is read in either form, lists to their end, and what it does not know is kept apart", () => {
    const parsed = parseArguments([
      "--model=a",
      "--max-turns",
      "3",
      "--allowedTools",
      "A",
      "B",
      "--verbose",
      "-p",
      "hi",
      "--odd=1",
    ])
    expect(parsed.values.get("model")).toEqual(["a"])
    expect(parsed.values.get("max-turns")).toEqual(["3"])
    expect(parsed.values.get("allowedTools")).toEqual(["A", "B"])
    expect(parsed.switches.has("verbose")).toBe(true)
    expect(parsed.words).toEqual(["hi"])
    expect(parsed.unknown).toEqual(["--odd=1"])
  })

  it("[A29] knows every flag that our launcher can write", () => {
    const everything = claudeArguments({
      print: true,
      model: "m",
      maxTurns: 1,
      maxBudgetUsd: 1,
      jsonSchema: {},
      permissionMode: "plan",
      resume: "x",
      forkSession: true,
      resumeSessionAt: "y",
      sessionId: "z",
      persistSession: false,
      allowedTools: ["A"],
      disallowedTools: ["B"],
      mcpConfig: {},
      settingSources: [],
      settings: {},
      additionalDirectories: ["/d"],
      includePartialMessages: true,
      includeHookEvents: true,
      replayUserMessages: true,
      effort: "high",
      betas: ["b"],
      thinking: { type: "adaptive" },
      systemPrompt: "s",
      appendSystemPrompt: "t",
    })
    expect(parseArguments(everything).unknown).toEqual([])
  })
})
